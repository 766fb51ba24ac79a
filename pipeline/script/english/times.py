"""Dates, years, decades and times of day."""

from __future__ import annotations

import re

from pipeline.script.english.context import (
    FULL_MONTHS,
    MONTH,
    MONTHS,
    WEEKDAYS,
    keep_stop,
    spell,
)
from pipeline.script.english.figures import ADDRESS_AFTER, PLACES
from pipeline.script.english.numbers import (
    name_cardinal,
    name_decade,
    name_digits,
    name_integer,
    name_label,
    name_ordinal,
    name_year,
)
from pipeline.script.rules import make_rule, text_after, text_before, with_stops, word_before

_DIGITS = "0123456789"
_MONTH_NAMES = FULL_MONTHS.split("|")
_MONTH_BEFORE = re.compile(
    rf"\b(?:{MONTH}|(?:january|february|april|june|july|august|september|october|november|december))\s\Z"
)
_MONTH_DAY_BEFORE = re.compile(rf"\b{MONTH}\s(?:the\s)?[0-9]{{1,2}}(?:st|nd|rd|th|d)?,?\s\Z", re.I)
_COUNTED = (
    r"(?:feet|foot|ft|inch|inches|yards?|miles?|mi|km|metres?|meters?|men|women|people|persons|souls|soldiers|"
    r"pounds?|lbs?|"
    r"dollars|cents|francs|crowns|guineas|shillings|pence|years?|months?|weeks?|days|hours|minutes|seconds|times|tons?|"
    r"acres|horses|ships|pages|words|copies|head|votes|percent|per|%|degrees|children|others|more|or\sso|different|"
    r"(?!was|is|has|as|his|its|this|thus|across|towards|unless|perhaps|always|besides|yes|us|does|sees|shows|marks|"
    r"brings|begins|sits|comes|goes|stands|remains|means|seems|gives|makes|takes)[a-z]{3,}[^sui]s)\b"
)
_COUNTED_AFTER = re.compile(rf"\s(?:[a-z]+-)?{_COUNTED}")
_YEAR_STRONG = re.compile(
    r"\b(?:in|since|until|till|circa|year|years|anno|A\.?D\.?|c(?:a)?\.|early|late|mid|spring|summer|autumn|fall|"
    r"winter|[bd]\.|fl\.|born|died|edition|copyright|published|"
    r"of|class\sof|easter|christmas|in\sthe\syear\sof|by|during|throughout)[\s-]\Z",
    re.I,
)
_YEAR_WEAK = re.compile(
    r"\b(?:from|to|after|before|between|about|around|and|or|for|than|the|at|on|back\sto|not|as\searly\sas)\s\Z", re.I
)
_ENDS_PHRASE = re.compile(
    r"[,.;:!?)\]\"'—–]|\Z|\s(?:and|or|to|when|was|had|by|the|he|she|it|they|as|at|on|in|that|with|—|–)\b"
)
_NAME_BEFORE = re.compile(r"\b[A-Z][a-z]+,?\s\Z")
_LABELS = re.compile(
    r"\b(?:room|flight|route|highway|apartment|apt\.?|suite|bus|interstate|channel|gate|cell|box|train|extension|"
    r"ext\.?|"
    r"locker|squadron|number|numbers|no\.|nos\.|page|pages|pp?\.|chapter|line|lines|verse|psalm|hymn|lot|platform|"
    r"agent|unit|car|model|boeing|building|building\sno\.|form|rule|section)\s\Z",
    re.I,
)
_AM_PM = r"(?: ?(?P<half>[AaPp])\.? ?[Mm](?:\.|\b(?!')))"
_NOT_JOINED = r"(?<![\w.$£€¥#@/,:-])(?<![0-9]['–])"


def _say_day(match: re.Match[str]) -> str | None:
    """The day after its month (May 3) or before it (3 May): the third of May."""
    day = int(match["x"])
    if not 1 <= day <= 31:
        return None
    before, after = text_before(match), text_after(match)
    if _MONTH_BEFORE.search(before):
        is_verb = re.search(r"\b(?:May|March)\s\Z", before) and _COUNTED_AFTER.match(after)
        return None if is_verb else name_ordinal(day)
    has_the = re.search(r"\bthe\s\Z", before, re.I) or re.search(r"(?:\band|\bor|-|–|,)\s?\Z", before)
    return f"{'' if has_the else 'the '}{name_ordinal(day)} of"


def _say_iso_date(match: re.Match[str]) -> str | None:
    return _name_date(int(match["day"]), int(match["month"]), match["year"])


def _say_slash_date(match: re.Match[str]) -> str | None:
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


def _say_weekday(match: re.Match[str]) -> str:
    return WEEKDAYS[match["x"].rstrip(".").lower()]


def _say_time(match: re.Match[str]) -> str | None:
    hour, minute = int(match["hour"]), match["minute"]
    if hour > 24 or (minute and int(minute) > 59):
        return None
    said = name_cardinal(hour)
    half = match["half"]
    if minute == "00":
        if not half:
            said = f"{said} o'clock" if 0 < hour <= 12 else "zero hundred" if not hour else f"{said} hundred"
    elif minute:
        said += f" {'oh ' if minute[0] == '0' else ''}{name_cardinal(int(minute))}"
    if half:
        said += " " + spell(half.upper() + "M", keep_stop(match) if match[0].endswith(".") else "", match)
    return said


def _say_clock_seconds(match: re.Match[str]) -> str:
    parts = [(match[1], "hour"), (match[2], "minute"), (match[3], "second")]
    words = [f"{name_cardinal(int(count))} {unit}{'' if int(count) == 1 else 's'}" for count, unit in parts]
    return f"{words[0]} {words[1]} and {words[2]}"


def _say_dotted_time(match: re.Match[str]) -> str | None:
    """9.15 where a train or a clock is spoken of."""
    hour, minute = int(match["hour"]), int(match["minute"])
    after = text_after(match)
    before = text_before(match)
    is_train = re.search(r"\b(?:the|this|that|his|her|my)\s\Z", before, re.I) and re.match(
        r"\s(?:[a-z]+\s)?(?:train|express|bus|mail|boat|ferry|flight|coach|local|special|up\b|down\b|to\s[A-Z]|"
        r"from\s[A-Z]|for\s[A-Z])|[,;!?]|\.?\Z",
        after,
    )
    is_clock = re.search(r"\b(?:at|at\sabout|until|till|by\sthe|since|past|exactly)\s\Z", before, re.I) and re.match(
        r"[,;!?)\"']|\.?\Z|\.\s+[\"'A-Z]|\s(?:on|in\sthe|this|that|sharp|precisely|to-?morrow|to-?night|to-?day|"
        r"and|he|she|they|we|I|when|every|each)\b",
        after,
    )
    if hour > 24 or minute > 59 or not (is_train or is_clock):
        return None
    return f"{name_cardinal(hour)} " + (
        f"{'oh ' if minute < 10 else ''}{name_cardinal(minute)}" if minute else "o'clock" if hour <= 12 else "hundred"
    )


def _say_military(match: re.Match[str]) -> str | None:
    hour, minute = match["hour"], int(match["minute"])
    if int(hour) > 24 or minute > 59:
        return None
    said = ("oh " if hour[0] == "0" else "") + name_cardinal(int(hour))
    return f"{said} hundred" if minute == 0 else f"{said} {'oh ' if minute < 10 else ''}{name_cardinal(minute)}"


def _say_verse(match: re.Match[str]) -> str | None:
    """John 3:16; a proportion where no book is named before it and the second figure is alone."""
    chapter, verse = match["chapter"], match["verse"]
    last = f" to {name_integer(match['last'])}" if match["last"] else ""
    if re.search(r"\b[A-Z][a-z]+\.?\s\Z", text_before(match)) and int(chapter) <= 150:
        return f"{name_integer(chapter)} {name_integer(verse)}{last}"
    return f"{name_integer(chapter)} to {name_integer(verse)}" if not last and len(verse) == 1 else None


def _say_year(match: re.Match[str]) -> str | None:
    """A figure of four digits that stands where a year does."""
    year = int(match["x"])
    if not 1000 <= year <= 2099:
        return None
    before, after = text_before(match), text_after(match)
    if word_before(match) in PLACES or ADDRESS_AFTER.match(after):
        return name_label(match["x"])
    if _MONTH_BEFORE.search(before) or _MONTH_DAY_BEFORE.search(before):
        return name_year(year)
    if re.match(r"\s(?:A\.? ?D\b|B\.? ?C\b|[BC]\.? ?C?E\b)", after):
        return name_year(year)
    if _COUNTED_AFTER.match(after):
        return None
    if 1500 <= year <= 2030 and year % 100 and re.match(r"\s[A-Za-z]+", after) and word_before(match) in _DETERMINERS:
        return name_year(year)
    if _YEAR_STRONG.search(before) and (year >= 1100 or not re.search(r"\bof\s\Z", before)):
        return name_year(year)
    is_round = (year % 100 == 0 and year < 2000) or year % 1000 == 0
    if re.search(r"\A[\"']?\Z", before) and _ENDS_PHRASE.match(after):
        return name_year(year)
    if year < 1100 or not _ENDS_PHRASE.match(after):
        return None
    if _YEAR_WEAK.search(before):
        return None if is_round or re.search(r"\b(?:than|for|the|not|on|at)\s\Z", before) else name_year(year)
    if re.search(r"[(\[©]\s?\Z|\A[\"']?\Z", before):
        return name_year(year)
    if (
        year >= 1400
        and not is_round
        and (_NAME_BEFORE.search(before) or re.search(r",\s\Z", before))
        and not _LABELS.search(before)
    ):
        return name_year(year)
    is_last = year >= 1500 and not is_round and re.match(r"[.!?]?[\"')]*\Z|[.!?][\"')]*\s", after)
    return name_year(year) if is_last and word_before(match).lower() not in _COUNTS else None


_DETERMINERS = frozenset("the The a A his her this that their its".split())
_COUNTS = frozenset(
    "than only about nearly almost exactly least most over under number total some exhibit no. nos. p. pp. page "
    "room".split()
)


def _say_copyright(match: re.Match[str]) -> str:
    return name_year(int(match["x"]))


def _say_year_range(match: re.Match[str]) -> str | None:
    first, last = int(match["first"]), int(match["last"])
    if len(match["last"]) == 2:
        is_range = match["joint"] != "-" or last > first % 100
        ending = f"{'oh ' if last < 10 else ''}{name_cardinal(last)}"
    else:
        is_range, ending = last > first, name_year(last)
    if not (1000 <= first <= 2099 and is_range) or _COUNTED_AFTER.match(text_after(match)):
        return None
    return f"{name_year(first)} to {ending}"


def _say_decades(match: re.Match[str]) -> str | None:
    first = name_decade(match["first"])
    second = name_decade(match["second"]) if match["second"] else None
    if first is None or (match["second"] and second is None):
        return None
    return f"{first} to {second}" if second else first


def _say_short_decade(match: re.Match[str]) -> str | None:
    """'90s, 90's, the 60s, in his 20s: also a temperature, or a hand at cards, all of which sound alike."""
    return name_decade(match["decade"])


_YEAR_IS_NEXT = re.compile(
    r"(?:\A[\"'(]?|\b(?:in|of|year|grace|lord|since|until|till|before|after|from|to|about|spring|summer|autumn|winter|"
    rf"{FULL_MONTHS}),?\s|(?:[0-9]|st|nd|rd|th|d),\s)\Z",
    re.I,
)


def _say_open_year(match: re.Match[str]) -> str | None:
    """18—, where a year stands; "he was only 18—" is cut off."""
    is_sure = re.match(r"[,.;:)]", text_after(match)) or re.search("——|--", match["x"])
    if not (is_sure or _YEAR_IS_NEXT.search(text_before(match))):
        return None
    written = match["x"][:-1] if match["x"][-1] in "-–" else match["x"]
    figures = re.sub(r"\D", "", written)
    if len(figures) == 2:
        return f"{name_cardinal(int(figures))} blank"
    return (
        f"{name_cardinal(int(figures[:2]))} {name_cardinal(int(figures[2]) * 10)} blank"
        if figures[2] > "1"
        else f"{name_cardinal(int(figures[:2]))} blank"
    )


def _say_short_year(match: re.Match[str]) -> str:
    """'98: the apostrophe stays, and is not heard."""
    figures = match["x"]
    return name_digits(figures).replace("zero", "oh") if figures[0] == "0" else name_cardinal(int(figures))


_DAYS_AND_MONTHS = rf"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|{FULL_MONTHS})"

RULES = (
    make_rule(
        "range",
        r"(?:(?<=[0-9][ap]m)|(?<=[0-9] [ap]m)|(?<=[ap]\.m\.)) ?[-–] ?(?=[0-9]{1,2}(?::[0-9]{2})? ?[ap]\.?m)",
        " to ",
        (_DIGITS, "-–"),
        re.I,
    ),
    make_rule("range", rf"\b{_DAYS_AND_MONTHS}(?P<x>[–-])(?={_DAYS_AND_MONTHS}\b)", " to ", "–-"),
    make_rule(
        "range",
        r"\b[A-Z][a-z]+(?P<x>–)(?=[A-Z][a-z]+ (?:train|express|line|flight|route|road|railway|railroad|ferry|bus|"
        r"service|race|motorway|highway|mail|coach|road|corridor)\b)",
        " to ",
        "–",
    ),
    make_rule(
        "date",
        rf"{_NOT_JOINED}(?P<year>[0-9]{{4}})([-/])(?P<month>[0-9]{{1,2}})\2(?P<day>[0-9]{{1,2}})(?![\w/-])",
        _say_iso_date,
        _DIGITS,
    ),
    make_rule(
        "date",
        rf"{_NOT_JOINED}([0-9]{{1,2}})([/.-])([0-9]{{1,2}})\2([0-9]{{4}}|(?<=/)[0-9]{{2}})(?![\w/-]|\.[0-9])",
        _say_slash_date,
        _DIGITS,
    ),
    make_rule(
        "weekday",
        r"\b(?P<x>(?:Mon|Tues?|Weds?|Thurs?|Thu|Fri|Sat|Sun)\b\.?),? (?=(?:the )?[0-9]|(?:Jan|Feb|Mar|Apr|May|"
        r"Jun|Jul|Aug|Sep|Oct|Nov|Dec))",
        _say_weekday,
        (_DIGITS + "JFMASOND", "MTWFS"),
    ),
    make_rule(
        "weekday",
        r"\b(?:[Oo]n|[Nn]ext|[Ll]ast|[Ee]very|[Ff]rom|to|until) (?P<x>(?:Mon|Tues|Weds?|Thurs|Fri|Sat|"
        r"Sun)\.)(?=,| [a-z(0-9])",
        _say_weekday,
        with_stops(["mon", "tues", "wed", "weds", "thurs", "fri", "sat", "sun"]),
    ),
    make_rule(
        "weekday",
        r"\b(?P<x>(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b\.?)(?=[-–](?:Mon|Tue|Wed|Thu|Fri|Sat|Sun))",
        _say_weekday,
        "MTWFS",
    ),
    make_rule(
        "weekday",
        r"(?<=[-–])(?P<x>(?:Tues?|Wed|Thurs?|Thu|Fri|Sat|Sun)\b\.?)(?<=[a-z.])(?![\w-])",
        lambda m: (
            _say_weekday(m) if re.search(r"(?:Mon|Tues?|Wed|Thurs?|Thu|Fri|Sat)\.?[-–]\Z", text_before(m)) else None
        ),
        "-–",
    ),
    make_rule(
        "month",
        r"\b(?P<x>(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?),?[ -](?=(?:the )?[0-9])",
        _say_month,
        (_DIGITS, "JFMASONDjfmasond"),
        re.I,
    ),
    make_rule(
        "month",
        r"(?<=[0-9])(?:st|nd|rd|th|d)?(?: of)?[ -](?P<x>(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)",
        lambda m: _say_month(m) + (keep_stop(m) if m["x"][-1] == "." else ""),
        _DIGITS,
        re.I,
    ),
    make_rule(
        "month",
        r"\b(?:[Ii]n|[Oo]f|[Ss]ince|by|last|next|[Ff]rom|[Uu]ntil|[Ee]arly|[Ll]ate) (?P<x>(?:Jan|Feb|Aug|Sept|"
        r"Oct|Nov|Dec)\.)",
        lambda m: _say_month(m) + keep_stop(m, before_any_capital=False),
        with_stops(["jan", "feb", "aug", "sept", "oct", "nov", "dec"]),
    ),
    make_rule(
        "month",
        r"\b(?P<x>(?:Jan|Feb|Aug|Sept|Oct|Nov|Dec)\.)(?=,| [a-z])",
        _say_month,
        with_stops(["jan", "feb", "aug", "sept", "oct", "nov", "dec"]),
    ),
    make_rule(
        "day",
        rf"\b(?:{MONTH}|january|february|april|june|july|august|september|october|november|december)[ "
        rf"-](?P<x>[0-9]{{1,2}})(?![\w:%/°]|[.,][0-9]| ?[AaPp]\.?[Mm]\b|[-–][0-9]{{1,2}}[ :])",
        _say_day,
        _DIGITS,
    ),
    make_rule(
        "day",
        rf"{_NOT_JOINED}(?P<x>[0-9]{{1,2}})(?= (?:{FULL_MONTHS}|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b))",
        _say_day,
        _DIGITS,
    ),
    make_rule(
        "day",
        rf"{_NOT_JOINED}(?P<x>[0-9]{{1,2}})(?= (?:january|february|april|june|july|august|september|october|"
        rf"november|december|jan|feb|apr|jun|jul|aug|sept?|oct|nov|dec)\b)",
        _say_day,
        _DIGITS,
    ),
    make_rule(
        "day",
        rf"(?<!the )(?<!\w)(?P<x>(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th|d))(?= (?:{FULL_MONTHS})\b)",
        lambda m: (
            (re.search(r"\b[Tt]he\s\Z", text_before(m)) and name_ordinal(int(m["day"])))
            or f"the {name_ordinal(int(m['day']))} of"
        ),
        _DIGITS,
    ),
    make_rule(
        "month", r"\b(?P<x>(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?)-(?=[0-9])", _say_month, _DIGITS
    ),
    make_rule("time", rf"{_NOT_JOINED}([0-9]{{1,2}}):([0-5][0-9]):([0-5][0-9])(?![\w:])", _say_clock_seconds, ":"),
    make_rule(
        "time",
        rf"{_NOT_JOINED}(?P<hour>[0-9]{{1,2}})(?:[:.](?P<minute>[0-5][0-9]))?{_AM_PM}",
        _say_time,
        (_DIGITS, "mM"),
    ),
    make_rule(
        "verse",
        rf"{_NOT_JOINED}(?P<chapter>[0-9]{{1,3}}):(?P<verse>[0-9]{{1,3}})(?:[-–](?P<last>[0-9]{{1,3}}))?(?![\w:]|"
        rf"\.[0-9])",
        lambda m: _say_verse(m) if not _is_clock(m) else None,
        ":",
    ),
    make_rule(
        "time",
        rf"{_NOT_JOINED}(?P<hour>[0-9]{{1,2}}):(?P<minute>[0-5][0-9])(?P<half>)(?![\w:]|\.[0-9])",
        _say_time,
        (_DIGITS, ":"),
    ),
    make_rule(
        "time",
        rf"{_NOT_JOINED}(?P<hour>[0-9]{{1,2}})\.(?P<minute>[0-5][0-9])(?![\w%°]|\.[0-9])",
        _say_dotted_time,
        (_DIGITS, "."),
    ),
    make_rule(
        "time",
        rf"{_NOT_JOINED}(?P<x>(?P<hour>[0-2][0-9])(?P<minute>[0-5][0-9]))(?= (?:hours|hrs)\b)",
        _say_military,
        _DIGITS,
    ),
    make_rule(
        "years",
        r"(?<![\w.$£€¥#@/,:-])(?P<first>1[0-9]{3}|20[0-9]{2})(?P<joint> ?[–-] ?|—)(?P<last>(?:1[0-9]|20)[0-9]{2}|"
        r"[0-9]{2})(?![\w-]|[.,/:][0-9]|°)",
        _say_year_range,
        (_DIGITS, "-–—"),
    ),
    make_rule(
        "decade",
        r"(?<![\w.$£€¥#@/,:])(?P<first>(?:1[0-9]|20)[0-9]0)'?s(?:[-–]'?(?P<second>[0-9]0|(?:1[0-9]|"
        r"20)[0-9]0)'?s)?(?![\w])",
        _say_decades,
        (_DIGITS, "s"),
    ),
    make_rule(
        "plural",
        r"(?<![\w.$£€¥#@/,:'-])(?P<number>[2-9]|1[0-9]|[1-9]00|1000)s(?![\w.])",
        lambda m: _name_plural(name_integer(m["number"])),
        (_DIGITS, "s"),
    ),
    make_rule("decade", r"(?<![\w.$£€¥#@/,:])'?(?P<decade>[1-9]0)'?s(?![\w.])", _say_short_decade, (_DIGITS, "s")),
    make_rule("decade", r"(?<![\w.$£€¥#@/,:])'?(?P<decade>[1-9]0)'?s(?=\.)", _say_short_decade, (_DIGITS, "s")),
    make_rule(
        "year left open",
        r"(?<![\w.,-])(?P<x>1[0-9](?:[0-9](?:——?|--?|_|–)|——?|--|__))(?![\w])",
        _say_open_year,
        (_DIGITS, "—-_"),
    ),
    make_rule(
        "year",
        r"(?<![\w.$£€¥#@/,:-])(?<![0-9]['–])(?P<x>[12][0-9]{3})(?![\w%°-]|[.,/:'–][0-9]| [½⅓¼¾])",
        _say_year,
        _DIGITS,
    ),
    make_rule("year", r"(?<=-)(?<=\bmid-)(?P<x>1[0-9]{3})(?!\w)", _say_copyright, _DIGITS),
    make_rule(
        "short year",
        r"(?:\b(?:of|in|since|from|summer|winter|spring|autumn|fall|class) )'(?P<x>[0-9]{2})(?!\w|')",
        _say_short_year,
        (_DIGITS, "'"),
    ),
)


def _name_plural(words: str) -> str:
    return words + ("es" if words.endswith("x") else "s")


def _is_clock(match: re.Match[str]) -> bool:
    """Whether 3:16 is a time rather than a verse of a book named before it."""
    hour, minute = int(match["chapter"]), match["verse"]
    return not (match["last"] or len(minute) != 2 or hour > 24 or int(minute) > 59)
