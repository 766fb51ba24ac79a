"""Years and decades: in 1914, 1914–18, the 1890s, '98, 18—."""

from __future__ import annotations

import re

from pipeline.script.english.calendar import FULL_MONTHS, MONTH
from pipeline.script.english.counted import COUNTED_AFTER
from pipeline.script.english.dates import MONTH_BEFORE
from pipeline.script.english.figures import ADDRESS_AFTER, PLACES
from pipeline.script.english.numbers import (
    DIGITS,
    NOT_JOINED,
    name_cardinal,
    name_decade,
    name_digits,
    name_integer,
    name_label,
    name_year,
)
from pipeline.script.rules import make_rule, text_after, text_before, word_before

# What stands around a year. May 3, 1914; May the 3rd 1914:
_MONTH_DAY_BEFORE = re.compile(rf"\b{MONTH}\s(?:the\s)?[0-9]{{1,2}}(?:st|nd|rd|th|d)?,?\s\Z", re.I)
_ERA_AFTER = re.compile(r"\s(?:A\.? ?D\b|B\.? ?C\b|[BC]\.? ?C?E\b)")
# Words that years follow more often than other numbers do:
_YEAR_STRONG = re.compile(
    r"\b(?:in|since|until|till|circa|year|years|anno|A\.?D\.?|c(?:a)?\.|early|late|mid|spring|summer|autumn|fall|"
    r"winter|[bd]\.|fl\.|born|died|edition|copyright|published|"
    r"of|class\sof|easter|christmas|in\sthe\syear\sof|by|during|throughout)[\s-]\Z",
    re.I,
)
# Words that both follow:
_YEAR_WEAK = re.compile(
    r"\b(?:from|to|after|before|between|about|around|and|or|for|than|the|at|on|back\sto|not|as\searly\sas)\s\Z", re.I
)
_NUMBER_BEFORE = re.compile(r"\b(?:than|for|the|not|on|at)\s\Z")
"""Of these, those after which it is rather a number."""
_DETERMINERS = frozenset("the The a A his her this that their its".split())
"""The 1914 war."""
_COUNTS = frozenset(
    "than only about nearly almost exactly least most over under number total some exhibit no. nos. p. pp. page "
    "room".split()
)
_ENDS_PHRASE = re.compile(
    r"[,.;:!?)\]\"'—–]|\Z|\s(?:and|or|to|when|was|had|by|the|he|she|it|they|as|at|on|in|that|with|—|–)\b"
)
_NAME_BEFORE = re.compile(r"(?:\b[A-Z][a-z]+,?|,)\s\Z")
"""London 1914; London, 1914; 3rd ed., 1914."""
_LABELS = re.compile(
    r"\b(?:room|flight|route|highway|apartment|apt\.?|suite|bus|interstate|channel|gate|cell|box|train|extension|"
    r"ext\.?|locker|squadron|number|numbers|no\.|nos\.|page|pages|pp?\.|chapter|line|lines|verse|psalm|hymn|lot|platform|"
    r"agent|unit|car|model|boeing|building|building\sno\.|form|rule|section)\s\Z",
    re.I,
)
"""Room 1914: no year though the word may have a capital."""
_ENDS_SENTENCE = re.compile(r"[.!?]?[\"')]*\Z|[.!?][\"')]*\s")
# 18— is a year after one of these, or after a day of a month:
_YEAR_IS_NEXT = re.compile(
    r"(?:\A[\"'(]?|\b(?:in|of|year|grace|lord|since|until|till|before|after|from|to|about|spring|summer|autumn|winter|"
    rf"{FULL_MONTHS}),?\s|(?:[0-9]|st|nd|rd|th|d),\s)\Z",
    re.I,
)


def _say_year(match: re.Match[str]) -> str | None:
    """A figure of four digits that stands where a year does; or where the number of a house or a room does."""
    year = int(match["x"])
    if not 1000 <= year <= 2099:
        return None
    if word_before(match) in PLACES or ADDRESS_AFTER.match(text_after(match)):
        return name_label(match["x"])
    is_year = _is_dated(match) or (
        not COUNTED_AFTER.match(text_after(match)) and (_is_introduced(match, year) or _is_alone(match, year))
    )
    return name_year(year) if is_year else None


def _is_dated(match: re.Match[str]) -> bool:
    """May 1914, May 3, 1914, 1066 A.D.: nothing can make it a number."""
    before = text_before(match)
    return bool(MONTH_BEFORE.search(before) or _MONTH_DAY_BEFORE.search(before) or _ERA_AFTER.match(text_after(match)))


def _is_introduced(match: re.Match[str], year: int) -> bool:
    """Whether the word before says that it is a year: the 1914 war, in 1914, since 1066."""
    before = text_before(match)
    if (
        1500 <= year <= 2030
        and year % 100
        and re.match(r"\s[A-Za-z]+", text_after(match))
        and word_before(match) in _DETERMINERS
    ):
        return True
    is_number = year < 1100 and re.search(r"\bof\s\Z", before)  # a matter of 1050
    return bool(_YEAR_STRONG.search(before) and not is_number)


def _is_alone(match: re.Match[str], year: int) -> bool:
    """Whether it is a year since nothing is counted: a phrase or the text ends with it, and it is no round number."""
    before, after = text_before(match), text_after(match)
    if not _ENDS_PHRASE.match(after):
        return False
    begins = re.search(r"(?:\A|[a-z][.!?] )[\"']?\Z", before)
    if begins:
        return True
    if year < 1100:
        return False
    is_round = (year % 100 == 0 and year < 2000) or year % 1000 == 0
    if _YEAR_WEAK.search(before):
        return not (is_round or _NUMBER_BEFORE.search(before))
    if re.search(r"[(\[©]\s?\Z", before):
        return True
    if is_round:
        return False
    if year >= 1400 and _NAME_BEFORE.search(before) and not _LABELS.search(before):
        return True
    return bool(year >= 1500 and _ENDS_SENTENCE.match(after) and word_before(match).lower() not in _COUNTS)


def _say_mid_year(match: re.Match[str]) -> str:
    return name_year(int(match["x"]))


def _say_year_range(match: re.Match[str]) -> str | None:
    """1914–18, 1914–1918; not 1914-12, nor 1200–1500 men."""
    first, last = int(match["first"]), int(match["last"])
    if len(match["last"]) == 2:
        is_range = match["joint"] != "-" or last > first % 100
        ending = f"{'oh ' if last < 10 else ''}{name_cardinal(last)}"
    else:
        is_range, ending = last > first, name_year(last)
    if not (1000 <= first <= 2099 and is_range) or COUNTED_AFTER.match(text_after(match)):
        return None
    return f"{name_year(first)} to {ending}"


def _say_decades(match: re.Match[str]) -> str | None:
    """1890s, 1890s-1900s, 1980s-90s."""
    first = name_decade(match["first"])
    second = name_decade(match["second"]) if match["second"] else None
    if first is None or (match["second"] and second is None):
        return None
    return f"{first} to {second}" if second else first


def _say_short_decade(match: re.Match[str]) -> str | None:
    """'90s, 90's, the 60s, in his 20s: also a temperature, or a hand at cards, all of which sound alike."""
    return name_decade(match["decade"])


def _say_plural(match: re.Match[str]) -> str:
    """In 2s and 6s, two 500s."""
    words = name_integer(match["number"])
    return words + ("es" if words.endswith("x") else "s")


def _say_open_year(match: re.Match[str]) -> str | None:
    """18—, where a year stands; "he was only 18—" is cut off."""
    is_sure = re.match(r"[,.;:)]", text_after(match)) or re.search("——|--", match["x"])
    if not (is_sure or _YEAR_IS_NEXT.search(text_before(match))):
        return None
    figures = re.sub(r"\D", "", match["x"])
    century, tens = name_cardinal(int(figures[:2])), figures[2:]
    return f"{century} {name_cardinal(int(tens) * 10)} blank" if tens > "1" else f"{century} blank"


def _say_short_year(match: re.Match[str]) -> str:
    """'98: the apostrophe stays, and is not heard."""
    figures = match["x"]
    return name_digits(figures).replace("zero", "oh") if figures[0] == "0" else name_cardinal(int(figures))


RULES = (
    # 1914–18, 1914-1918, 1914—1918
    make_rule(
        "years",
        r"(?<![\w.$£€¥#@/,:-])(?P<first>1[0-9]{3}|20[0-9]{2})(?P<joint> ?[–-] ?|—)(?P<last>(?:1[0-9]|20)[0-9]{2}|"
        r"[0-9]{2})(?![\w-]|[.,/:][0-9]|°)",
        _say_year_range,
        (DIGITS, "-–—"),
    ),
    # 1890s, 1890's, 1980s-90s
    make_rule(
        "decade",
        r"(?<![\w.$£€¥#@/,:])(?P<first>(?:1[0-9]|20)[0-9]0)'?s(?:[-–]'?(?P<second>[0-9]0|(?:1[0-9]|"
        r"20)[0-9]0)'?s)?(?![\w])",
        _say_decades,
        (DIGITS, "s"),
    ),
    # 2s, 500s
    make_rule(
        "plural",
        r"(?<![\w.$£€¥#@/,:'-])(?P<number>[2-9]|1[0-9]|[1-9]00|1000)s(?![\w.])",
        _say_plural,
        (DIGITS, "s"),
    ),
    # '90s, 90's
    make_rule("decade", r"(?<![\w.$£€¥#@/,:])'?(?P<decade>[1-9]0)'?s(?![\w.])", _say_short_decade, (DIGITS, "s")),
    make_rule("decade", r"(?<![\w.$£€¥#@/,:])'?(?P<decade>[1-9]0)'?s(?=\.)", _say_short_decade, (DIGITS, "s")),
    # 18—, 18--, 183-
    make_rule(
        "year left open",
        r"(?<![\w.,-])(?P<x>1[0-9](?:[0-9](?:——?|--?|_|–)|——?|--|__))(?![\w])",
        _say_open_year,
        (DIGITS, "—-_"),
    ),
    # 1914
    make_rule(
        "year",
        rf"{NOT_JOINED}(?P<x>[12][0-9]{{3}})(?![\w%°-]|[.,/:'–][0-9]| [½⅓¼¾])",
        _say_year,
        DIGITS,
    ),
    # mid-1914
    make_rule("year", r"(?<=-)(?<=\bmid-)(?P<x>1[0-9]{3})(?!\w)", _say_mid_year, DIGITS),
    # the summer of '98
    make_rule(
        "short year",
        r"(?:\b(?:of|in|since|from|summer|winter|spring|autumn|fall|class) )'(?P<x>[0-9]{2})(?!\w|')",
        _say_short_year,
        (DIGITS, "'"),
    ),
)
