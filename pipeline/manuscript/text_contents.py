"""The list of contents that a plain text begins with: its lines are no chapters."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from pipeline.manuscript.headings import is_bare_number, is_heading
from pipeline.manuscript.prose import keep_letters
from pipeline.manuscript.text_lines import Line

_TITLE = re.compile(r"(?:table of )?contents[.:]?", re.IGNORECASE)
_COLUMNS = re.compile(r"(?:chap(?:ter)?s?\.?)?\s*(?:page|pages|p\.)", re.IGNORECASE)
_PAGE = re.compile(r"(?:[.·…_\s]{2,}|\t)(\d{1,4}|[ivxlc]{1,7})\s*\Z")
_NUMBER = re.compile(
    r"(?:(?:chapter|part|book|volume|section|letter)\s+)?(?:\d{1,3}|[ivxlc]{1,8})\b[\s.:)–—-]*", re.IGNORECASE
)
_MAX_CHARS = 100
_MAX_UNSURE = 2
_MIN_ENTRIES = 3
_MAX_ENTRIES = 1000
_MAX_TRIES = 20
_MAX_LINES_BEFORE = 600
"""Of lines that aren't blank: further down, "Contents" is no list of the whole."""


def find_contents(lines: Sequence[Line]) -> list[Line]:
    """The lines of the list of contents, with its title; none where it isn't sure that there is one.

    Sure is a line that names its page, or that stands again further down.
    """
    filled = [line for line in lines if not line.is_blank]
    places: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(filled):
        if len(line.text) <= _MAX_CHARS:
            for key in _keys(line.text):
                places[key].append(number)
    last_places = {key: numbers[-1] for key, numbers in places.items()}
    num_tried = 0
    was_heading = False
    for number, line in enumerate(filled[:_MAX_LINES_BEFORE]):
        is_titled = _TITLE.fullmatch(line.shown) is not None
        is_listed = _is_heading(line)
        if num_tried < _MAX_TRIES and (is_titled or (is_listed and not was_heading)):
            num_tried += 1
            end = _end_of_list(filled, number + is_titled, last_places, is_titled)
            if end > number:
                return filled[number:end]
        was_heading = is_listed
    return []


def _is_heading(line: Line) -> bool:
    return is_heading(line.shown) or is_bare_number(line.shown)


def _keys(text: str) -> set[str]:
    """What a line may be told by: its words without a page, and those without a chapter's number."""
    words = _PAGE.sub("", text.rstrip()).strip().casefold()
    keys = {keep_letters(words), keep_letters(_NUMBER.sub("", words, count=1))}
    return {key for key in keys if key}


def _end_of_list(filled: Sequence[Line], first: int, last_places: dict[str, int], is_titled: bool) -> int:
    """The number of the line after the list's last sure entry; 0 when there is no list."""
    seen: set[str] = set()
    end = num_sure = num_unsure = 0
    for number in range(first, min(first + _MAX_ENTRIES, len(filled))):
        line = filled[number]
        if len(line.text) > _MAX_CHARS or num_unsure > _MAX_UNSURE:
            break
        keys = _keys(line.text)
        key = keep_letters(line.shown.casefold())
        has_page = is_titled and (_PAGE.search(line.text) or _COLUMNS.fullmatch(line.shown))
        is_sure = bool(has_page) or _recurs(keys, number, last_places)
        is_marked = bool(has_page) or _is_heading(line)
        if not is_titled and not is_marked:
            is_sure = False
        if key in seen and not (is_sure and _goes_on(filled, number, last_places, seen)):
            break
        seen.add(key)
        num_unsure = 0 if is_sure else num_unsure + 1
        if is_sure:
            num_sure += 1
            end = number + 1
    return end if num_sure >= (2 if is_titled else _MIN_ENTRIES) else 0


def _recurs(keys: set[str], number: int, last_places: dict[str, int]) -> bool:
    return any(last_places.get(key, -1) > number for key in keys)


def _goes_on(filled: Sequence[Line], number: int, last_places: dict[str, int], seen: set[str]) -> bool:
    """Whether no text comes next: a second "Chapter 1" may be that of a second part."""
    if number + 1 >= len(filled):
        return False
    after = filled[number + 1]
    is_again = keep_letters(after.shown.casefold()) in seen or _recurs(_keys(after.text), number + 1, last_places)
    return is_again and _is_heading(after)
