"""Times of day, and verses of books, which are written alike: 9:15, 9.15 p.m., 0915 hours; John 3:16."""

from __future__ import annotations

import re

from pipeline.script.english.context import keep_stop, spell
from pipeline.script.english.numbers import DIGITS, NOT_JOINED, name_cardinal, name_integer
from pipeline.script.rules import make_rule, text_after, text_before

_AM_PM = r"(?: ?(?P<half>[AaPp])\.? ?[Mm](?:\.|\b(?!')))"

# the 9.15 train, the 9.15 to Leeds, "I took the 9.15."
_THE_BEFORE = re.compile(r"\b(?:the|this|that|his|her|my)\s\Z", re.I)
_TRAIN_AFTER = re.compile(
    r"\s(?:[a-z]+\s)?(?:train|express|bus|mail|boat|ferry|flight|coach|local|special|up\b|down\b|to\s[A-Z]|"
    r"from\s[A-Z]|for\s[A-Z])|[,;!?]|\.?\Z"
)
# at 9.15 sharp, until 9.15, by the 9.15
_AT_BEFORE = re.compile(r"\b(?:at|at\sabout|until|till|by\sthe|since|past|exactly)\s\Z", re.I)
_CLOCK_AFTER = re.compile(
    r"[,;!?)\"']|\.?\Z|\.\s+[\"'A-Z]|\s(?:on|in\sthe|this|that|sharp|precisely|to-?morrow|to-?night|to-?day|"
    r"and|he|she|they|we|I|when|every|each)\b"
)
_NUM_CHAPTERS_MAX = 150
"""The psalms: no book of the Bible has more chapters."""


def _say_time(match: re.Match[str]) -> str | None:
    """9:15, 9.15 p.m., 9 pm, 21:00."""
    hour, minute, half = int(match["hour"]), match["minute"], match["half"]
    if hour > 24:
        return None
    if half:
        said = name_cardinal(hour) if minute in (None, "00") else f"{name_cardinal(hour)} {_name_minute(int(minute))}"
        return f"{said} {spell(half.upper() + 'M', keep_stop(match) if match[0].endswith('.') else '', match)}"
    return _name_time(hour, int(minute))


def _name_time(hour: int, minute: int) -> str:
    if minute:
        return f"{name_cardinal(hour)} {_name_minute(minute)}"
    if hour == 0:
        return "zero hundred"
    return f"{name_cardinal(hour)} o'clock" if hour <= 12 else f"{name_cardinal(hour)} hundred"


def _name_minute(minute: int) -> str:
    return f"{'oh ' if minute < 10 else ''}{name_cardinal(minute)}"


def _say_duration(match: re.Match[str]) -> str:
    """1:02:03 is one hour two minutes and three seconds."""
    hours, minutes, seconds = (
        f"{name_cardinal(int(count))} {unit}{'' if int(count) == 1 else 's'}"
        for count, unit in zip(match.groups(), ("hour", "minute", "second"), strict=True)
    )
    return f"{hours} {minutes} and {seconds}"


def _say_dotted_time(match: re.Match[str]) -> str | None:
    """9.15 where a train or a clock is spoken of."""
    hour, minute = int(match["hour"]), int(match["minute"])
    if hour > 24:
        return None
    before, after = text_before(match), text_after(match)
    is_train = _THE_BEFORE.search(before) and _TRAIN_AFTER.match(after)
    is_clock = _AT_BEFORE.search(before) and _CLOCK_AFTER.match(after)
    return _name_time(hour, minute) if is_train or is_clock else None


def _say_military(match: re.Match[str]) -> str | None:
    """0915 hours is oh nine fifteen, 0900 oh nine hundred."""
    hour, minute = match["hour"], int(match["minute"])
    if int(hour) > 24:
        return None
    said = ("oh " if hour[0] == "0" else "") + name_cardinal(int(hour))
    return f"{said} {_name_minute(minute) if minute else 'hundred'}"


def _say_verse(match: re.Match[str]) -> str | None:
    """John 3:16; a proportion where no book is named before it and the second figure is alone."""
    chapter, verse, last = match["chapter"], match["verse"], match["last"]
    is_time = not last and len(verse) == 2 and int(chapter) <= 24 and int(verse) <= 59
    if is_time:
        return None
    if re.search(r"\b[A-Z][a-z]+\.?\s\Z", text_before(match)) and int(chapter) <= _NUM_CHAPTERS_MAX:
        return f"{name_integer(chapter)} {name_integer(verse)}" + (f" to {name_integer(last)}" if last else "")
    return f"{name_integer(chapter)} to {name_integer(verse)}" if not last and len(verse) == 1 else None


RULES = (
    # 9am-5pm, 9 a.m. – 5 p.m.
    make_rule(
        "range",
        r"(?:(?<=[0-9][ap]m)|(?<=[0-9] [ap]m)|(?<=[ap]\.m\.)) ?[-–] ?(?=[0-9]{1,2}(?::[0-9]{2})? ?[ap]\.?m)",
        " to ",
        (DIGITS, "-–"),
        re.I,
    ),
    # 1:02:03
    make_rule("time", rf"{NOT_JOINED}([0-9]{{1,2}}):([0-5][0-9]):([0-5][0-9])(?![\w:])", _say_duration, ":"),
    # 9:15 pm, 9.15 p.m., 9 A.M.
    make_rule(
        "time",
        rf"{NOT_JOINED}(?P<hour>[0-9]{{1,2}})(?:[:.](?P<minute>[0-5][0-9]))?{_AM_PM}",
        _say_time,
        (DIGITS, "mM"),
    ),
    # 3:16-18, 119:105, odds of 3:1
    make_rule(
        "verse",
        rf"{NOT_JOINED}(?P<chapter>[0-9]{{1,3}}):(?P<verse>[0-9]{{1,3}})(?:[-–](?P<last>[0-9]{{1,3}}))?(?![\w:]|"
        rf"\.[0-9])",
        _say_verse,
        ":",
    ),
    # 9:15
    make_rule(
        "time",
        rf"{NOT_JOINED}(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-5][0-9])(?P<half>)(?![\w:]|\.[0-9])",
        _say_time,
        (DIGITS, ":"),
    ),
    # 9.15
    make_rule(
        "time",
        rf"{NOT_JOINED}(?P<hour>[0-9]{{1,2}})\.(?P<minute>[0-5][0-9])(?![\w%°]|\.[0-9])",
        _say_dotted_time,
        (DIGITS, "."),
    ),
    # 0915 hours
    make_rule(
        "time",
        rf"{NOT_JOINED}(?P<x>(?P<hour>[0-2][0-9])(?P<minute>[0-5][0-9]))(?= (?:hours|hrs)\b)",
        _say_military,
        DIGITS,
    ),
)
