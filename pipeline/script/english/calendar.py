"""The names of months and days, in full and abbreviated."""

from __future__ import annotations

# fmt: off
MONTHS = {
    "jan": "January", "feb": "February", "mar": "March", "apr": "April", "may": "May", "jun": "June", "jul": "July",
    "aug": "August", "sep": "September", "sept": "September", "oct": "October", "nov": "November", "dec": "December",
}
WEEKDAYS = {
    "mon": "Monday", "tue": "Tuesday", "tues": "Tuesday", "wed": "Wednesday", "weds": "Wednesday", "thu": "Thursday",
    "thur": "Thursday", "thurs": "Thursday", "fri": "Friday", "sat": "Saturday", "sun": "Sunday",
}
# fmt: on

# What follows are alternatives of regular expressions.
FULL_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
SMALL_MONTHS = "january|february|april|june|july|august|september|october|november|december"
"""As some write them; march and may are words."""
SHORT_MONTHS = "Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
MONTH = rf"(?:{FULL_MONTHS}|(?:{SHORT_MONTHS})\b\.?)"
FULL_WEEKDAYS = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
