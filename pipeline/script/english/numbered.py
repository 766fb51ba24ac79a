"""Roman numerals after a word that numbers follow: Chapter II, act iii, Books I, II and III."""

from __future__ import annotations

import re

from pipeline.script.english.numbers import name_cardinal
from pipeline.script.english.roman_numbers import CAPITALS, SINGLE_LETTERS, SMALL, read_roman
from pipeline.script.rules import make_rule, text_after, text_before, word_before

_LABELS = frozenset(
    """
    act acts alien apollo appendix apple article articles bk. book books bowl camp canto cantos case category century
    ch. chap. chapter chapters chart chorus class cohort column concerto corps creed cycle day diablo dialogue
    division doom elegy episode epistle essay exhibit experiment factor fantasy fig. fighter figure fit fugue game
    gemini generation ghostbusters godfather grade group groups halloween hymn idyll item jaws law lecture legion
    lesson letter letters level line map mark match meditation model movement night no. nocturne note number ode
    olympiad opus panzer part parts pentium phase plate predator prelude problem program psalm psalms pt. quake
    quartet question rambo region return rocky round row rule salyut satire saturn scene scenes schedule sec. section
    sections sector series set sonata sonnet stage stanza stave step story superbowl superman symphony table tablet
    tale terminator test theorem tier titan title trek trial type unit variation vatican verse vol. vols. volume
    volumes voskhod vostok war ward wars zone
    """.split()
)
"""In lower case, though they mostly begin with a capital where a numeral in capitals follows."""
_SMALL_LABELS = frozenset(
    """
    act acts article articles bk. book books canto cantos ch. chap. chapter chapters fig. figs. figure figures lesson
    lessons letter letters p. page pages part parts plate plates pp. pt. sc. scene scenes section sections stanza
    stanzas verse verses vol. vols. volume volumes
    """.split()
)
"""Those that a numeral in small letters follows."""
_LETTERED = frozenset(
    """
    act appendix case chart class column cycle day division exhibit fig. figure generation grade group item law letter
    letters level line map model note part parts phase plate problem program question region return row rule schedule
    sec. section sections sector series set stage story table tale test tier title trial type unit war ward wars zone
    """.split()
)
"""Those that a letter may follow as well: Section C."""
_NAMED_X = frozenset("generation letter letters model".split())
"""Those after which V and X are letters too."""
_BEFORE_ONE = frozenset("apollo bowl gemini rocky saturn vatican war wars".split())
"""Those after which "I" is never the pronoun."""
_NUMERAL_MAX = 400
_JOINTS = frozenset(("and", "or", "to"))
# Chapter I. In which; Book I of
_I_GOES_ON = re.compile(
    r"\Z|[.,:;!?)\]\"—–-]|\s(?:of|and|or|to|in|on|by|at|with|begins|opens|ends|deals|is|was)\b|\s[A-Z\"'(—–]"
)


def _say_numbered(match: re.Match[str]) -> str | None:
    label = word_before(match)
    return _say_after(match, label) if label.lower() in _LABELS else None


def _say_small_numbered(match: re.Match[str]) -> str | None:
    label = word_before(match)
    return _say_after(match, label) if label.lower() in _SMALL_LABELS else None


def _say_after(match: re.Match[str], label: str) -> str | None:
    written, after = match["x"], text_after(match)
    value = read_roman(written)
    if value is None or value > _NUMERAL_MAX:
        return None
    if written in SINGLE_LETTERS and (label.lower() in _LETTERED or written.islower()):
        return None
    if label.lower() in _NAMED_X and written.upper() in "VX":
        return None
    if written == "I" and _is_pronoun(label, after):
        return None
    is_initial = re.match(r"\.\s?[A-Z]\.", after)  # Mark V. R. Smith
    return None if is_initial else name_cardinal(value)


def _is_pronoun(label: str, after: str) -> bool:
    """Whether "I" after a label can be one: "in that chapter I wrote", "No. I never did"."""
    if label.lower() == "no.":
        return label.islower() or re.match(r"\Z|[,;:.)]", after) is None
    return label.lower() not in _BEFORE_ONE and (label.islower() or not _I_GOES_ON.match(after))


def _say_next_numbered(match: re.Match[str]) -> str | None:
    """The second and later ones of a list: Books I, II and III; Acts I-III."""
    value = read_roman(match["x"])
    if value is None or value > _NUMERAL_MAX or not _is_listed(text_before(match, 60)):
        return None
    # A list counts upwards, so that I is one only before others: Parts I and I to III; but "In Part II, I argue"
    is_pronoun = match["x"] == "I" and not re.match(r",? (?:and|or|to|&) [IVX]+\b|[-–—][IVX]", text_after(match))
    return None if is_pronoun else name_cardinal(value)


def _say_range(match: re.Match[str]) -> str | None:
    return " to " if _is_listed(text_before(match)) else None


def _is_listed(before: str) -> bool:
    """Whether a label and numerals lead up to here: Books I, II and"""
    for word in reversed(re.findall(r"[A-Za-z]+\.?", before)):
        if word in _JOINTS or read_roman(word):
            continue
        return word.lower() in _LABELS or word.lower() in _SMALL_LABELS
    return False


RULES = (
    # Chapter II, World War II, Mark-II; not Chapter II-b, Act I'm
    make_rule(
        "roman numeral",
        r"(?<=[A-Za-z.][ -])(?P<x>[IVXLC]{1,9}+)(?![\w])(?!'(?!s\b)\w)(?!-[a-z])",
        _say_numbered,
        CAPITALS,
    ),
    # act iii, vol. ix
    make_rule("roman numeral", r"(?<=[a-zA-Z.] )(?P<x>[ivxl]{1,9}+)(?![\w'])", _say_small_numbered, SMALL),
    # Books I, II and III: what comes after a numeral
    make_rule(
        "roman numeral",
        r"(?<=[ivxlcIVXLC])(?:, | ?[-–—] ?|,? and |,? or | to |,? & )(?P<x>[IVXLC]{1,9}+|[ivxl]{1,9}+)(?![\w'])",
        _say_next_numbered,
        CAPITALS + SMALL,
    ),
    # Acts I-III
    make_rule(
        "range",
        r"(?<=[ivxlcIVXLC])(?P<x> ?[-–—] ?)(?=[IVXLCivxl]{1,9}+(?!\w))",
        _say_range,
        ("-–—", CAPITALS + SMALL),
    ),
)
