"""Numbers in English words, as a narrator says them: no "and" within a whole number."""

from __future__ import annotations

import re

# fmt: off
UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_SCALES = tuple(
    (10**power, name)
    for power, name in (
        (18, "quintillion"),
        (15, "quadrillion"),
        (12, "trillion"),
        (9, "billion"),
        (6, "million"),
        (3, "thousand"),
        (2, "hundred"),
    )
)
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_NUM_DIGITS_MAX = 15
_NUM_GROUPED_MAX = 21
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
    "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅐": (1, 7), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
    "⅑": (1, 9), "⅒": (1, 10),
}  # fmt: skip

DIGITS = "0123456789"
BEGIN = r"(?<![\w.$£€¥₹#§^@])(?<![0-9][.,:/'\-–])"
"""Where a number may begin: not in a word (R2D2), a sum of money or another rule's matter (#1), nor joined to figures,
which makes it a date, a time, a score, a version or a telephone number."""
NOT_JOINED = r"(?<![\w.$£€¥#@/,:-])(?<![0-9]['–])"
"""Where a date or a time may begin, of which more figures would make something else."""
INTEGER = r"(?:[0-9]{1,3}(?:,[0-9]{3})++|[0-9]++)"
VULGAR = "".join(_VULGAR)
AMOUNT = (
    rf"(?:{INTEGER}(?:\.[0-9]++| ?[{VULGAR}]|-[{VULGAR}]|[ -][0-9]{{1,2}}+/[0-9]{{1,2}}+(?![0-9]))?+"
    rf"|\.[0-9]++|[{VULGAR}])"
)
"""A whole number, a decimal, a fraction sign, or a whole number with a fraction: 1,200 3.5 .45 ½ 3½ 3 1/2."""
FRACTION = r"[0-9]{1,3}+/[0-9]{1,3}+(?![0-9])"
RANGE = rf"(?:{FRACTION}|{AMOUNT})(?: ?[-–] ?{AMOUNT}| to {AMOUNT})?+"

_OVER = re.compile(r"([0-9]+)/([0-9]+)")
_PARTS = re.compile(rf"([0-9,]*+)(?:\.([0-9]+)|[ -]?([{VULGAR}])|[ -]([0-9]+/[0-9]+))?")
_JOINT = re.compile(r" ?[-–] ?| to ")


def name_cardinal(number: int) -> str:
    """Return the words for 0 <= number < 10**21: 1200 is "one thousand two hundred"."""
    if number < 20:
        return UNITS[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return TENS[tens] + (f"-{UNITS[rest]}" if rest else "")
    value, name = next(scale for scale in _SCALES if scale[0] <= number)
    count, rest = divmod(number, value)
    return f"{name_cardinal(count)} {name}" + (f" {name_cardinal(rest)}" if rest else "")


def name_ordinal(number: int) -> str:
    cardinal = name_cardinal(number)
    if number == 0:
        return "zeroth"
    last = re.split("[ -]", cardinal)[-1]
    ordinal = _ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return cardinal.removesuffix(last) + ordinal


def name_digits(digits: str) -> str:
    return " ".join(UNITS[int(digit)] for digit in digits)


def name_integer(written: str) -> str:
    """The words for figures, with thousands marked or not: one by one where they begin with 0 or are too many."""
    digits = written.replace(",", "")
    limit = _NUM_GROUPED_MAX if "," in written else _NUM_DIGITS_MAX
    if len(digits) > limit or (len(digits) > 1 and digits[0] == "0"):
        return name_digits(digits)
    return name_cardinal(int(digits))


def name_year(year: int) -> str:
    """1066 is "ten sixty-six", 1803 "eighteen oh three", 1900 "nineteen hundred", 2001 "two thousand one"."""
    century, rest = divmod(year, 100)
    if year < 1000 or (century % 10 == 0 and rest < 10):
        return name_cardinal(year)
    if rest == 0:
        return f"{name_cardinal(century)} hundred"
    return f"{name_cardinal(century)} {'oh ' if rest < 10 else ''}{name_cardinal(rest)}"


def name_label(written: str) -> str:
    """The number of a room, a house or a flight: 101 is "one oh one", 1428 "fourteen twenty-eight"."""
    if len(written) not in (3, 4) or written[0] == "0":
        return name_integer(written)
    front, rest = divmod(int(written), 100)
    if rest == 0:
        return name_cardinal(int(written)) if front % 10 == 0 else f"{name_cardinal(front)} hundred"
    return f"{name_cardinal(front)} {'oh ' if rest < 10 else ''}{name_cardinal(rest)}"


def name_decade(written: str) -> str | None:
    """1850 is "eighteen fifties", 1800 "eighteen hundreds", 2000 "two thousands", 90 "nineties"; None for 00."""
    century, rest = divmod(int(written), 100)
    tens = "tens" if rest == 10 else TENS[rest // 10][:-1] + "ies" if rest else ""
    if rest % 10 or not (century or rest):
        return None
    if not century:
        return tens
    if not rest:
        return name_year(int(written)) + "s"
    return f"{name_cardinal(century)} {tens}"


def name_fraction(numerator: int, denominator: int, article: str = "one") -> str:
    """2/3 is "two thirds"; `article` says what a numerator of 1 is called."""
    name = {2: "half", 4: "quarter"}.get(denominator) or name_ordinal(denominator)
    if numerator == 1:
        return f"{'an' if article == 'a' and name[0] in 'e' else article} {name}"
    return f"{name_cardinal(numerator)} {'halve' if denominator == 2 else name}s"


def name_amount(written: str) -> str:
    """The words for an `AMOUNT`, a `FRACTION` or a `RANGE` of them."""
    if one := _OVER.fullmatch(written):
        return name_fraction(int(one[1]), int(one[2])) if int(one[2]) > 1 else name_digits(one[1] + one[2])
    parts = _PARTS.fullmatch(written)
    if parts is None:
        return " to ".join(name_amount(part) for part in _JOINT.split(written) if part)
    whole, decimals, sign, over = parts.groups()
    if decimals:
        return f"{name_integer(whole)} point {name_digits(decimals)}" if whole else f"point {name_digits(decimals)}"
    if not (sign or over):
        return name_integer(whole)
    numerator, denominator = _VULGAR[sign] if sign else map(int, over.split("/"))
    if denominator < 2:
        return f"{name_integer(whole)} {name_digits(over.replace('/', ''))}"
    if not whole:
        return name_fraction(numerator, denominator)
    return f"{name_integer(whole)} and {name_fraction(numerator, denominator, 'a')}"


def is_one(written: str) -> bool:
    """Whether what is counted is said in the singular: 1, but not 1.0 nor 1½."""
    return written == "1"
