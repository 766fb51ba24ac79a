"""What stands abbreviated after a name: Jr., Inc., Ave., Co. A sentence may end with it."""

from __future__ import annotations

import re

from pipeline.script.english.context import keep_stop, with_capitals
from pipeline.script.rules import any_of, make_rule, text_before, with_stops

_PERSONS = {"Esq": "Esquire", "Jr": "Junior", "Jun": "Junior", "Sr": "Senior"}
_FIRMS = {"Bros": "Brothers", "Co": "Company", "Corp": "Corporation", "Inc": "Incorporated", "Ltd": "Limited"}
_PLACES = {
    "Av": "Avenue",
    "Ave": "Avenue",
    "Bldg": "Building",
    "Blvd": "Boulevard",
    "Ct": "Court",
    "Expy": "Expressway",
    "Hwy": "Highway",
    "Ln": "Lane",
    "Mts": "Mountains",
    "Pkwy": "Parkway",
    "Pl": "Place",
    "Rd": "Road",
    "Sq": "Square",
    "Terr": "Terrace",
}
_AFTER_NAMES = _PERSONS | _FIRMS | _PLACES
_SAID = with_capitals(_AFTER_NAMES)
_NOTHING_GOES_ON = frozenset(("jr", "sr", "esq"))
"""A capital after one begins a sentence; the name of a place or a firm may go on."""
_NAME_BEFORE = re.compile(r"[A-Z][\w'.]*,?\s\Z")
_NAME_OR_FIGURE_BEFORE = re.compile(r"[A-Z0-9][\w'.]*,?\s\Z")


def _say_with_stop(match: re.Match[str]) -> str | None:
    """Smith, Jr., the 5th Ave. bus."""
    if not _NAME_OR_FIGURE_BEFORE.search(text_before(match)):
        return None
    word = match["x"].rstrip(".")
    return _SAID[word] + keep_stop(match, before_any_capital=word.lower() in _NOTHING_GOES_ON)


def _say_without_stop(match: re.Match[str]) -> str | None:
    """Smith, Jr, had."""
    return _SAID[match["x"]] if _NAME_BEFORE.search(text_before(match)) else None


def _say_road(match: re.Match[str]) -> str:
    return _PLACES[match["x"].capitalize()]


def _say_company(match: re.Match[str]) -> str:
    return "Company" + keep_stop(match, before_any_capital=False)


def _say_company_or_county(match: re.Match[str]) -> str:
    """The Ford Co. Building; but in Co. Down."""
    is_county = re.search(r"\b(?:in|of|from|to|near|at)\s\Z", text_before(match))
    return "County" if is_county else _say_company(match)


RULES = (
    # Smith & Co., Smith and Co.
    make_rule("company", r"(?<=[&d] )(?P<x>Co\.)", _say_company, with_stops(["co"])),
    # Co. Down, not after a word or an initial
    make_rule("county", r"(?<![A-Z]\w )(?<![\w.&] )(?<![\w']) ?(?P<x>\bCo\.)(?= [A-Z])", "County", with_stops(["co"])),
    make_rule("company", r"(?<=[a-z] )(?P<x>Co\.)(?= [A-Z])", _say_company_or_county, with_stops(["co"])),
    make_rule(
        "after a name",
        rf"(?<=[\w.,] )(?<![.!?] )(?P<x>(?:{any_of(_SAID)})\.)",
        _say_with_stop,
        with_stops(_AFTER_NAMES),
    ),
    make_rule(
        "after a name",
        r"(?P<x>\b(?:Jr|Sr|Ltd|Inc|Esq))(?=[,;:)]| (?:and|of|was|had|said)\b|\Z)",
        _say_without_stop,
        "JSLIE",
    ),
    # San Tomas Expy, Santa Clara
    make_rule(
        "after a name",
        r"\b[A-Z]\w+ (?P<x>(?:Ave|Blvd|Rd|Hwy|Expy|Pkwy|hwy))(?=[,;:)]|\Z)",
        _say_road,
        "ABRHEPh",
    ),
)
