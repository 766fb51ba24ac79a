"""Roman numerals after a name: Henry VIII, Louis XIV's, Pope John Paul II; Hamilton III."""

from __future__ import annotations

import re

from pipeline.script.english.context import STARTER, VERB
from pipeline.script.english.numbers import name_ordinal
from pipeline.script.english.roman_numbers import read_roman
from pipeline.script.rules import any_of, make_rule, text_after, text_before

_ROYAL_NAMES = any_of(
    """
    Abdul Adrian Albert Alexander Alexios Alfonso Alphonso Amenhotep Anne Antiochus Artaxerxes Baldwin Bela Benedict
    Boniface Boris Carl Carlos Casimir Catherine Celestine Charles Christian Clement Cleopatra Conrad Constantine
    Cyrus Darius David Edward Elizabeth Emmanuel Eugene Faisal Ferdinand Francis Franz François Frederick Friedrich
    George Gregory Gustav Gustavus Haakon Hassan Henry Innocent Isabella Ivan James John Joseph Juan Juliana Julius
    Justinian Karl Leo Leopold Louis Malcolm Margaret Margrethe Mary Maximilian Mehmed Mohammed Muhammad Murad
    Napoleon Nicholas Nikolaus Olav Oscar Otto Paul Pedro Peter Philip Philippe Pius Ptolemy Rameses Ramesses Ramses
    Richard Robert Rudolf Rudolph Seleucus Selim Sigismund Sixtus Stephen Theodosius Thutmose Umberto Urban Victor
    Victoria Vladimir Wilhelm William Xerxes
    """.split()
)
_RULERS = (
    r"King|Queen|Pope|Emperor|Empress|Tsar|Czar|Kaiser|Prince|Sultan|Shah|Pharaoh|Duke|Archduke|Saint|St\.?|KING|"
    r"QUEEN|POPE|EMPEROR"
)
_NOT_NAMES = frozenset(
    """
    act am an and are as at but by chapter for from he her his i if in is it its met mk mk. model my no of on or our
    page part said saw scene she size that the their then there these they this those to type was we when while with
    you your
    """.split()
)
_SURNAME_IS_X = frozenset(("Mary", "Robert"))
"""Malcolm apart, who is never a king with a single letter."""
_NUMERAL_MAX = 40

_ROYAL = re.compile(_ROYAL_NAMES, re.IGNORECASE)
ROYAL_BEFORE = re.compile(rf"\b(?:{_ROYAL_NAMES})\s\Z")
_RULER_BEFORE = re.compile(rf"\b(?:{_RULERS})\s(?:[A-Z]\w+\s)?[\w'-]+\s\Z")
"""Pope John, Pope John Paul."""
_INITIAL_AFTER = re.compile(rf"\.\s(?!{STARTER})[A-Z]|\.[A-Z]")
_BEGINS_SENTENCE = re.compile(r"(?:.*[.!?]['\")]*\s+)?['\"(]*")
_REIGNED = re.compile(
    r"\s(?:was (?:be|born|crown|execut|king|queen|pope|emperor|murder|assassinat|depos|restor|succeed|buri|marri)|"
    r"(?:died|reigned|ruled|abdicated|ascended|succeeded|became (?:king|queen|pope|emperor))\b)"
)
"""What is said of a king rather than by the one who speaks, where a sentence begins with his name."""
_NAME_IS_OBJECT = re.compile(r"\b(?:of|under|by|from|to|with|and|or|that|when|[Aa]gainst|after|before)\s[\w'-]+\s\Z")
_NAME_ENDS = re.compile(r"'s\b|[,.;:)!?\"—–-]|\Z|\s(?:of|and|or|in|to|from|as|at|by|on|was|had|is|who)\b")


def name_regnal(value: int) -> str:
    """VIII after a name is "the eighth"."""
    return f"the {name_ordinal(value)}"


def _say_regnal(match: re.Match[str]) -> str | None:
    """Henry VIII, Louis XIV's; a name nobody reigned under too, if the numeral can't be a word (Hamilton III)."""
    name, written = match["name"], match["x"].rstrip(".")
    value = read_roman(written)
    if value is None or value > _NUMERAL_MAX or name.lower() in _NOT_NAMES:
        return None
    if len(written) > 1:
        is_letters = name.isupper() and len(name) < 3  # MI VI
        return None if is_letters else name_regnal(value)
    return name_regnal(value) if _is_single_regnal(match, name, written) else None


def _is_single_regnal(match: re.Match[str], name: str, written: str) -> bool:
    """Whether I, V or X is a king's number, rather than a pronoun, an initial or a surname."""
    is_royal = _ROYAL.fullmatch(name) is not None
    is_ruler = _RULER_BEFORE.search(text_before(match)) is not None
    if not is_ruler and (not is_royal or _INITIAL_AFTER.match(text_after(match))):
        return False  # Charles V. Smith
    if written == "I":
        return _is_first(match, name, is_royal, is_ruler)
    return name != "Malcolm" and not (written == "X" and name in _SURNAME_IS_X)


def _is_first(match: re.Match[str], name: str, is_royal: bool, is_ruler: bool) -> bool:
    """Whether I is a number: "Charles I was crowned", "under Charles I."; but not in "with Charles I went"."""
    after, before = text_after(match), text_before(match)
    before_name = before[: -len(name) - 1]
    if is_royal and _BEGINS_SENTENCE.fullmatch(before_name) and _REIGNED.match(after):
        return True
    if not is_ruler and re.match(rf"\s{VERB}", after):
        return False
    is_whole_text = not before_name.strip("\"'([ ") and not after.strip(".\"')] ")
    is_paired = re.match(r"\sand\s[IVX]+\b", after)  # Charles I and II
    if is_whole_text or is_paired:
        return True
    return bool((is_ruler or _NAME_IS_OBJECT.search(before)) and _NAME_ENDS.match(after))


RULES = (
    # Henry VIII, Louis XIV's; not Henry VIII-like, Elizabeth I'm
    make_rule(
        "roman ordinal",
        r"\b(?P<name>[A-ZÀ-Þ][\w'-]{1,30}+) (?P<x>[IVX]{1,7}+(?:\.(?= [a-z]))?)(?![\w-])(?!'(?!s\b)\w)",
        _say_regnal,
        "IVX",
    ),
)
