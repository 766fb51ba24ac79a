"""Dates: 3 May, Mon. the 3rd, 2001-05-03, 9/10/2001; months and weekdays abbreviated."""

from __future__ import annotations

import re

from pipeline.script.english.calendar import (
    FULL_MONTHS,
    FULL_WEEKDAYS,
    MONTH,
    MONTHS,
    SHORT_MONTHS,
    SMALL_MONTHS,
    WEEKDAYS,
)
from pipeline.script.english.context import keep_stop
from pipeline.script.english.counted import COUNTED_AFTER
from pipeline.script.english.numbers import DIGITS, NOT_JOINED, name_cardinal, name_ordinal, name_year
from pipeline.script.rules import make_rule, text_after, text_before, with_stops

_MONTH_NAMES = FULL_MONTHS.split("|")
MONTH_BEFORE = re.compile(rf"\b(?:{MONTH}|(?:{SMALL_MONTHS}))\s\Z")
# These aren't words without their stop, nor before a day: "in Mar." and "in Jun." are left to other readings.
_MONTHS_ALONE = "Jan|Feb|Aug|Sept|Oct|Nov|Dec"
_DAYS_AND_MONTHS = rf"(?:{FULL_WEEKDAYS}|{FULL_MONTHS})"


def _say_day(match: re.Match[str]) -> str | None:
    """The day after its month (May 3) or before it (3 May): the third of May."""
    day = int(match["x"])
    if not 1 <= day <= 31:
        return None
    before, after = text_before(match), text_after(match)
    if MONTH_BEFORE.search(before):
        return None if COUNTED_AFTER.match(after) else name_ordinal(day)  # March 10 miles; in June 20 people
    has_the = re.search(r"\bthe\s\Z", before, re.I) or re.search(r"(?:\band|\bor|-|–|,)\s?\Z", before)
    return f"{'' if has_the else 'the '}{name_ordinal(day)} of"


def _say_ordinal_day(match: re.Match[str]) -> str:
    """3rd May: the third of May."""
    day = name_ordinal(int(match["day"]))
    has_the = re.search(r"\b[Tt]he\s\Z", text_before(match))
    return f"{'' if has_the else 'the '}{day} of"


def _say_iso_date(match: re.Match[str]) -> str | None:
    """2001-05-03."""
    return _name_date(int(match["day"]), int(match["month"]), match["year"])


def _say_slash_date(match: re.Match[str]) -> str | None:
    """5/3/2001 and 3.5.2001: the month first, unless it can't be one."""
    first, second = int(match[1]), int(match[3])
    month, day = (second, first) if first > 12 else (first, second)
    return _name_date(day, month, match[4])


def _name_date(day: int, month: int, year: str) -> str | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    said = name_year(int(year)) if len(year) == 4 else f"{'oh ' if year[0] == '0' else ''}{name_cardinal(int(year))}"
    return f"{_MONTH_NAMES[month - 1]} {name_ordinal(day)}, {said}"


def _say_month(match: re.Match[str]) -> str:
    return MONTHS[match["x"].rstrip(".").lower()]


def _say_month_after_day(match: re.Match[str]) -> str:
    """3 Jan. may end a sentence."""
    return _say_month(match) + (keep_stop(match) if match["x"][-1] == "." else "")


def _say_month_after_preposition(match: re.Match[str]) -> str:
    return _say_month(match) + keep_stop(match, before_any_capital=False)


def _say_weekday(match: re.Match[str]) -> str:
    return WEEKDAYS[match["x"].rstrip(".").lower()]


def _say_second_weekday(match: re.Match[str]) -> str | None:
    """Fri of Mon-Fri."""
    follows_first = re.search(r"(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat)\.?[-–]\Z", text_before(match))
    return _say_weekday(match) if follows_first else None


RULES = (
    # Monday–Friday, June–August
    make_rule("range", rf"\b{_DAYS_AND_MONTHS}(?P<x>[–-])(?={_DAYS_AND_MONTHS}\b)", " to ", "–-"),
    # 2001-05-03
    make_rule(
        "date",
        rf"{NOT_JOINED}(?P<year>[0-9]{{4}})([-/])(?P<month>[0-9]{{1,2}})\2(?P<day>[0-9]{{1,2}})(?![\w/-])",
        _say_iso_date,
        DIGITS,
    ),
    # 5/3/2001, 3.5.2001; a year of two figures only between slashes: 5/3/01
    make_rule(
        "date",
        rf"{NOT_JOINED}([0-9]{{1,2}})([/.-])([0-9]{{1,2}})\2([0-9]{{4}}|(?<=/)[0-9]{{2}})(?![\w/-]|\.[0-9])",
        _say_slash_date,
        DIGITS,
    ),
    # Mon., 3 May; Tues the 4th; Sat Jan 5
    make_rule(
        "weekday",
        r"(?<![Tt]he )\b(?P<x>(?:Mon|Tues?|Weds?|Thurs?|Thu|Fri|Sat|Sun)\b\.?),? "
        r"(?=(?:the )?[0-9]{1,2}(?:st|nd|rd|th)?\b(?![,.][0-9]| (?:million|billion))|"
        rf"{MONTH} [0-9])",
        _say_weekday,
        (DIGITS + "JFMASOND", "MTWFS"),
    ),
    # on Tues. at noon
    make_rule(
        "weekday",
        r"\b(?:[Oo]n|[Nn]ext|[Ll]ast|[Ee]very|[Ff]rom|to|until) (?P<x>(?:Mon|Tues|Weds?|Thurs|Fri|Sat|"
        r"Sun)\.)(?=,| [a-z(0-9])",
        _say_weekday,
        with_stops(["mon", "tues", "wed", "weds", "thurs", "fri", "sat", "sun"]),
    ),
    # Mon-Fri
    make_rule(
        "weekday",
        r"\b(?P<x>(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b\.?)(?=[-–](?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))",
        _say_weekday,
        "MTWFS",
    ),
    make_rule(
        "weekday",
        r"(?<=[-–])(?P<x>(?:Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b\.?)(?<=[a-z.])(?![\w-])",
        _say_second_weekday,
        "-–",
    ),
    # Jan. 3, Feb the 4th, DEC-5
    make_rule(
        "month",
        rf"\b(?P<x>(?:{SHORT_MONTHS})\b\.?),?[ -](?=(?:the )?[0-9])",
        _say_month,
        (DIGITS, "JFMASONDjfmasond"),
        re.I,
    ),
    # 3 Jan., 3rd of feb
    make_rule(
        "month",
        rf"(?<=[0-9])(?:st|nd|rd|th|d)?(?: of)?[ -](?P<x>(?:{SHORT_MONTHS.lower()})\b\.?)",
        _say_month_after_day,
        DIGITS,
        re.I,
    ),
    # since Aug.
    make_rule(
        "month",
        r"\b(?:[Ii]n|[Oo]f|[Ss]ince|by|last|next|[Ff]rom|[Uu]ntil|[Ee]arly|[Ll]ate) "
        rf"(?P<x>(?:{_MONTHS_ALONE})\.)",
        _say_month_after_preposition,
        with_stops(_MONTHS_ALONE.split("|")),
    ),
    # Aug. was hot
    make_rule(
        "month", rf"\b(?P<x>(?:{_MONTHS_ALONE})\.)(?=,| [a-z])", _say_month, with_stops(_MONTHS_ALONE.split("|"))
    ),
    # May 3, Jan. 3, may-3; not May 3:00, May 3pm, May 3-4:
    make_rule(
        "day",
        rf"\b(?:{MONTH}|{SMALL_MONTHS})[ "
        rf"-](?P<x>[0-9]{{1,2}})(?![\w:%/°]|[.,][0-9]| ?[AaPp]\.?[Mm]\b|[-–][0-9]{{1,2}}[ :])",
        _say_day,
        DIGITS,
    ),
    # 3 May, 3 Jan
    make_rule("day", rf"{NOT_JOINED}(?P<x>[0-9]{{1,2}})(?= (?:{FULL_MONTHS}|(?:{SHORT_MONTHS})\b))", _say_day, DIGITS),
    # 3 january, 3 jan
    make_rule(
        "day",
        rf"{NOT_JOINED}(?P<x>[0-9]{{1,2}})(?= (?:{SMALL_MONTHS}|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\b)",
        _say_day,
        DIGITS,
    ),
    # 3rd May
    make_rule(
        "day",
        rf"(?<!\w)(?P<x>(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|d))(?= (?:{FULL_MONTHS})\b)",
        _say_ordinal_day,
        DIGITS,
    ),
    # 3-Jan-99
    make_rule("month", rf"\b(?P<x>(?:{SHORT_MONTHS})\b\.?)-(?=[0-9])", _say_month, DIGITS),
)
