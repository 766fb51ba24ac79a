"""Which lines are headings, by their wording alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pipeline.manuscript.book import Kind
from pipeline.manuscript.document import Document

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
_STYLED = re.compile(
    r"(?:chapter|chap|ch|part|book)[-_]?(?:title|subtitle|heading|head|name|number|num|no|label)?(?<!^ch)"
    r"|(?:title|subtitle|heading|headline|h[1-6])"
)
_WRAPPERS = frozenset(["chapter", "chap", "ch", "part", "book"])  # of a whole chapter: on a div, or on each paragraph
_ENDS_OF_SPEECH = "!?…\"'”’»"
_SUBTITLE = re.compile(r"subtitle|chapter[-_]?subtitle")
_MAX_STYLED_CHARS = 120
_MIN_LISTED = 3


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


def heading_level(text: str, tag: str, classes: Sequence[str]) -> int | None:
    """The level of a heading that is set as a paragraph, 0 for a second line; None for what isn't surely one.

    It is one by its wording ("Chapter One"), or by its class where it is short and no sentence.
    """
    is_worded = is_heading(text)
    styled = [name for name in classes if _STYLED.fullmatch(name)] if tag in ("p", "div") else []
    if tag == "div" or text[-1] in _ENDS_OF_SPEECH:
        styled = [name for name in styled if name not in _WRAPPERS]
    is_styled = (
        bool(styled) and len(text) <= _MAX_STYLED_CHARS and text[-1] not in ".,;:" and any(map(str.isalnum, text))
    )
    if not is_worded and not is_styled:
        return None
    if _SUBTITLE.fullmatch(styled[0] if styled else ""):
        return 0
    by_class = next((int(name[1]) for name in styled if name[0] == "h" and name[1:].isdigit()), 2)
    return 1 if is_part_title(text) else by_class


def demote_lists(document: Document, styled: Mapping[int, bool]) -> None:
    """Make paragraphs again of three headings or more that follow each other: they list what is to come.

    `styled` are the headings that no tag says are any, and whether each has a level. The last of a run that repeats
    one before it is the first chapter's own.
    """
    run: list[int] = []
    numbers = sorted(styled)
    for place, index in enumerate(numbers):
        run.append(index)
        if place + 1 < len(numbers) and numbers[place + 1] == index + 1:
            continue
        seen: dict[str, int] = {}
        end = len(run)
        for position, number in enumerate(run):
            text = document.blocks[number].text.casefold()
            if text in seen:
                end = position
                break
            seen[text] = number
        if sum(styled[number] for number in run[:end]) >= _MIN_LISTED:
            for number in run[:end]:
                document.blocks[number] = replace(document.blocks[number], kind=Kind.PARAGRAPH)
                document.levels.pop(number, None)
        run = []
