"""What a raised or lowered piece of text means: a power, a note's mark, a fraction, or only how it is set."""

from __future__ import annotations

import re
from enum import Enum

_NUMBER = re.compile(r"[+\-−–]?\d+(?:[.,]\d+)?")
_EXPONENT = re.compile(r"[+\-−–]?(?:\d{0,3}[nmkxij]|\d+)(?:[+\-−–]\d+)?")
_MARKS = re.compile(r"\d{1,3}(?:[,;–-]\s?\d{1,3})*")
_SIGNS = re.compile(r"[\[(](?:\d{1,3}|[a-z]|[*†‡§¶‖#]{1,3})[\])]|[*†‡§¶‖]{1,3}")
_UNKNOWNS = frozenset("nmkxij")
_BASE_LETTERS = re.compile(r"(?:^|[^^\w])(?:[^\W\d_]{1,3})$")
_BASE_DIGITS = re.compile(r"\d[\d.,]*$")
_WORD = re.compile(r"[^\W\d_]+$")
_UNITS = frozenset(["feet", "foot", "inch", "inches", "yards", "miles", "mile", "metres", "meters", "metre", "meter"])
_AFTER_SENTENCE = frozenset('.,;:!?…"”’»')
_FORMULA = re.compile(r"\([^()\s]{1,12}\)$|\([^()]*[+=×*/^−][^()]*\)$|[\]}]$")


class Raised(Enum):
    """`POWER` is read with a "^", `FRACTION` and `APART` with a space, `PLAIN` as it stands; `MARK` is left out."""

    POWER = "power"
    FRACTION = "fraction"
    APART = "apart"
    PLAIN = "plain"
    MARK = "mark"


def read_raised(before: str, text: str, after: str) -> Raised:
    """What `<sup>text</sup>` is between `before`, the visible text that touches it, and `after`."""
    if after[:1] in ("/", "⁄") and text.isdigit():
        return Raised.FRACTION if before[-1:].isdigit() else Raised.PLAIN
    if text and before and not before[-1].isspace() and _SIGNS.fullmatch(text):
        return Raised.MARK
    is_number = _NUMBER.fullmatch(text) is not None
    last = before[-1:]
    if not before or last.isspace():
        return Raised.PLAIN
    if digits := _BASE_DIGITS.search(before):
        base = digits[0].strip(".,")
        if last in ".,":  # "in 1905.³"
            return Raised.MARK if text.isdigit() else Raised.PLAIN
        if text.isdigit() and base.isdigit() and len(base) == 4:
            return Raised.MARK  # a year; none is raised to a power
        return Raised.POWER if is_number or _EXPONENT.fullmatch(text) else Raised.PLAIN
    if not is_number and not _MARKS.fullmatch(text):
        is_power = text in _UNKNOWNS and _BASE_LETTERS.search(before) and len(_word_at_end(before)) == 1
        return Raised.POWER if is_power else Raised.PLAIN
    if last in ")]}":
        is_formula = is_number and _FORMULA.search(before[-200:])
        return Raised.POWER if is_formula else Raised.MARK if _MARKS.fullmatch(text) else Raised.PLAIN
    if is_number and (_BASE_LETTERS.search(before) or _word_at_end(before).lower() in _UNITS):
        return Raised.POWER
    is_mark = _MARKS.fullmatch(text) and (last in _AFTER_SENTENCE or last.isalpha())
    return Raised.MARK if is_mark else Raised.PLAIN


def read_lowered(before: str, text: str) -> Raised:
    """What `<sub>text</sub>` is: digits after digits are a base, or the lower half of a fraction after a stroke."""
    return Raised.APART if text.isdigit() and before[-1:].isdigit() else Raised.PLAIN


def _word_at_end(text: str) -> str:
    found = _WORD.search(text[-40:])
    return found[0] if found else ""
