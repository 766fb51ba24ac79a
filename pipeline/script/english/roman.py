"""Roman numerals that stand alone, before a century or in a bracket; those of headings and years.

`numbered.py` reads them after a word that numbers follow (Chapter II), `regnal.py` after a name (Henry VIII).
"""

from __future__ import annotations

import re
import unicodedata

from pipeline.script.english.numbers import name_cardinal, name_ordinal, name_year
from pipeline.script.english.regnal import ROYAL_BEFORE, name_regnal
from pipeline.script.english.roman_numbers import CAPITALS, SINGLE_LETTERS, read_roman
from pipeline.script.rules import make_rule, text_after, text_before, word_before

_UNICODE = "Ⅰ-ↈⅰ-ⅿ"
_HEADING_MAX = 200
"""Chapters don't reach it."""
_LONE_MAX = 89
_WORLD_WARS = {"WWI": "World War One", "WW1": "World War One", "WWII": "World War Two", "WW2": "World War Two"}
_MADE_ORDINAL = ("Xth", "Vth", "Ist", "Lth", "Cth")
_DRIP_BEFORE = frozenset("an the by via his her my your our their no".split())
_DRIP_AFTER = re.compile(r"[ -](?:drip|line|bag|pole|fluid|drug|antibiotic|tube|needle|stand)")


def _say_unicode(match: re.Match[str]) -> str | None:
    """Ⅷ."""
    value = read_roman(unicodedata.normalize("NFKC", match[0]))
    if value is None:
        return None
    return name_regnal(value) if ROYAL_BEFORE.search(text_before(match)) else name_cardinal(value)


def _say_roman_ordinal(match: re.Match[str]) -> str | None:
    """XIXth; Henry VIIIth is Henry the eighth."""
    value = read_roman(match[1])
    if not value or (len(match[1]) == 1 and match[0] not in _MADE_ORDINAL):
        return None
    before = word_before(match)
    is_name = before[:1].isupper() and before.lower() not in ("the", "and", "a", "an", "of", "in", "on")
    return name_regnal(value) if is_name else name_ordinal(value)


def _say_as_ordinal(match: re.Match[str]) -> str | None:
    value = read_roman(match["x"])
    return name_ordinal(value) if value else None


def _say_page(match: re.Match[str]) -> str | None:
    value = read_roman(match["x"])
    return name_cardinal(value) if value and match["x"] not in SINGLE_LETTERS else None


def _say_world_war(match: re.Match[str]) -> str:
    return _WORLD_WARS[match["x"]]


def _say_year(match: re.Match[str]) -> str | None:
    value = read_roman(match["x"])
    return name_year(value) if value and 1000 < value < 2100 else None


def _say_lone(match: re.Match[str]) -> str | None:
    """A numeral of small value without a word that says so: IV is a drip after "an", XX and XXX are no numbers."""
    written = match["x"]
    value = read_roman(written)
    if value is None or value > _LONE_MAX or (len(set(written)) == 1 and written[0] != "I"):
        return None
    is_drip = word_before(match).lower() in _DRIP_BEFORE or _DRIP_AFTER.match(text_after(match))
    return None if written == "IV" and is_drip else name_cardinal(value)


def _say_heading(match: re.Match[str]) -> str | None:
    """A heading that is a numeral, or begins with one: "XIV.", "II. The Sea"."""
    value = read_roman(match["x"])
    if value is None or value >= _HEADING_MAX:
        return None
    if len(match["x"]) == 1 and not re.match(r"\.?\s*\Z|[.:)—–]|\s[—–]", text_after(match)):
        return None  # I Go to Sea
    return name_cardinal(value).capitalize()


def _say_whole(match: re.Match[str]) -> str | None:
    """A text that is nothing but a numeral; not LI, nor CIVIC or CD."""
    value = read_roman(match["x"])
    is_word = match["x"] == "LI" or "C" in match["x"]
    return name_cardinal(value) if value and not is_word else None


HEADING_RULES = (
    make_rule(
        "roman numeral",
        r"\A[\"'(\[]*(?P<x>[IVXLC]+)(?=\.?\s*\Z|\.\s|[:)\]—–]|\s[—–A-Z\"'(-])(?!\.\s?[A-Z]\.)",
        _say_heading,
        CAPITALS,
    ),
)

EARLY_RULES = (
    make_rule("roman numeral", f"[{_UNICODE}]++", _say_unicode, "".join(map(chr, range(0x2160, 0x2189)))),
    make_rule("roman numeral", r"\A[\"'(\[]*(?P<x>[IVXLC]{2,})(?=[.\"')\]]*\Z)", _say_whole, CAPITALS),
    # XIXth
    make_rule("roman ordinal", r"(?<![\w'])([IVXLCDM]{1,12}+)(?:th|st|nd|rd|d)\b", _say_roman_ordinal, CAPITALS),
    # the XIX century
    make_rule(
        "roman ordinal",
        r"(?<![\w'])(?P<x>[IVXLC]{1,9}+)(?= (?i:centur|dynast|olympiad|corps|legion|army corps))",
        _say_as_ordinal,
        CAPITALS,
    ),
)

RULES = (
    # (iv)
    make_rule("roman numeral", r"(?<=\()(?P<x>i{1,3}|iv|vi{0,3}|ix|xi{1,3})(?=\))", _say_page, "iv"),
    make_rule("roman numeral", r"\b(?<!\w')(?P<x>WW(?:I{1,2}|1|2))(?!\w)", _say_world_war, "W"),
    # the II was
    make_rule("roman ordinal", r"\b(?:the|The|THE) (?P<x>[IVX]{2,7}+)(?![\w'-])(?= [a-z])", _say_as_ordinal, "IVX"),
    # MCMXIV
    make_rule("year", r"\b(?<!')(?P<x>M[CDXLVIM]{3,})\b", _say_year, "M"),
    make_rule(
        "roman numeral", r"(?<![\w'.&/-])(?P<x>[IVX]{2,7}+)(?![\w&/-])(?!'(?!s\b)\w)(?!\.[A-Z])", _say_lone, "IVX"
    ),
)
