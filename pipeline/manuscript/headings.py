"""Which lines are headings, by their wording alone."""

from __future__ import annotations

import re

_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_ORDINALS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last"
_TEENS = "ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen"
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ROMAN = r"(?=[IVXLC])C{0,3}(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})"
_NUMBER = rf"(?:\d{{1,3}}|(?:the\s+)?(?:{_ORDINALS}|(?:{_TENS})(?:[-\s](?:{_UNITS}))?|{_TEENS}|{_UNITS})|{_ROMAN})"
_NUMBERED = re.compile(
    rf"(?:chapter|part|book|volume|act|scene|canto|letter|stave)\s+{_NUMBER}\b"
    r"(?:(?P<bare>\s*[.:]?)|\s*[.:—–-]+\s*(?P<title>\S.{0,79})|\s+(?P<caps>[A-Z].{0,59}))",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?:prologue|epilogue|preface|foreword|introduction|afterword|appendix|interlude|conclusion|dedication"
    r"|acknowledge?ments|contents|table of contents|copyright)[.:]?",
    re.IGNORECASE,
)
_BARE_NUMBER = re.compile(rf"(?:\d{{1,3}}|(?![CLDM]\b){_ROMAN})\.?")
_PART = re.compile(r"(?:part|book|volume)\b", re.IGNORECASE)
_MAX_TITLE_CHARS = 60


def is_heading(text: str) -> bool:
    found = _NUMBERED.fullmatch(text)
    if found is None:
        return _NAMED.fullmatch(text) is not None
    caps = found["caps"]
    return not caps or (caps[0].isupper() and looks_like_title(caps))


def is_bare_heading(text: str) -> bool:
    found = _NUMBERED.fullmatch(text)
    return found is not None and found["bare"] is not None


def looks_like_title(text: str) -> bool:
    return len(text) <= _MAX_TITLE_CHARS and text[0].isupper() and text[-1] not in ".,;:!?…\"'”’»"


def is_bare_number(text: str) -> bool:
    """ "4", "IV" or "XII.": a heading where nothing else stands on the line."""
    return _BARE_NUMBER.fullmatch(text) is not None


def is_part_title(text: str) -> bool:
    """ "Part Two", "BOOK THE FIRST: Recalled": what chapters lie below."""
    return _PART.match(text) is not None and is_heading(text)
