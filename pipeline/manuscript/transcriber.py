"""What a transcriber adds to a plain text, in Project Gutenberg's style: marks of pages, pictures, notes, emphasis."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

FILLER = "\u2060"
"""Stands for a character that isn't read: invisible, so that offsets stay and no word is parted."""

_PICTURE = re.compile(r"\[(?:Illustration|Picture|Image)\b(?:[^\[\]]|\[[^\[\]]*+\])*+\]", re.IGNORECASE)
_PAGE = re.compile(r"\[(?:Pg|p\.|pages?)\.?[ ]?(?:\d{1,4}|[ivxlc]{1,8})\]|\[\d{1,4}[ ]?/[ ]?\d{1,4}\]", re.IGNORECASE)
_BRACED_PAGE = re.compile(r"\{\d{1,4}\}")
_NOTE = re.compile(r"\[Footnote(?:[ ](\w{1,4}|[*†‡§]{1,3}))?:", re.IGNORECASE)
_BRACKET = re.compile(r"[\[\]]")
_NOTE_MARK = re.compile(r"\[(\w{1,4}|[*†‡§]{1,3})\]")
_ITALICS = re.compile(r"(?<![\w_])_(?!_)|(?<!_)_(?![\w_])")
_BOLD = re.compile(r"(?<![=\w])=(?=[^\s=])[^=\n]{1,200}(?<=[^\s=])=(?![=\w])")
_MAX_NOTE_CHARS = 10_000
_MIN_BRACED_PAGES = 3


class Mark(NamedTuple):
    """A place of the text that isn't read where it stands, and why. A note has the name of its mark."""

    start: int
    end: int
    reason: str
    note: str = ""


def find_marks(text: str) -> list[Mark]:
    """All marks, in order, none inside another. Linear in the text's length."""
    notes = list(_find_notes(text))
    names = {note.note for note in notes if note.note}
    found = notes + [Mark(*match.span(), "picture description") for match in _PICTURE.finditer(text)]
    found += [Mark(*match.span(), "page number") for match in _PAGE.finditer(text)]
    braced = list(_BRACED_PAGE.finditer(text))
    if len(braced) >= _MIN_BRACED_PAGES:
        found += [Mark(*match.span(), "page number") for match in braced]
    for match in _NOTE_MARK.finditer(text):
        if match[1] in names:
            found.append(Mark(*match.span(), "note mark", match[1]))
    found += [Mark(*match.span(), "mark of emphasis") for match in _ITALICS.finditer(text)]
    for match in _BOLD.finditer(text):
        found += [Mark(place, place + 1, "mark of emphasis") for place in (match.start(), match.end() - 1)]
    return list(_outermost(found))


def _find_notes(text: str) -> Iterator[Mark]:
    """`[Footnote 1: …]` up to the bracket that closes it."""
    closing: dict[int, int] = {}
    opened: list[int] = []
    if _NOTE.search(text):
        for bracket in _BRACKET.finditer(text):
            if bracket[0] == "[":
                opened.append(bracket.start())
            elif opened:
                closing[opened.pop()] = bracket.end()
    for match in _NOTE.finditer(text):
        end = closing.get(match.start(), 0)
        if 0 < end - match.start() <= _MAX_NOTE_CHARS:
            yield Mark(match.start(), end, "note", match[1] or "")


def _outermost(marks: list[Mark]) -> Iterator[Mark]:
    past = 0
    for mark in sorted(marks, key=lambda mark: (mark.start, -mark.end)):
        if mark.start >= past:
            yield mark
            past = mark.end


def blank_out(text: str, marks: list[Mark]) -> str:
    """The text with every character of a mark invisible: as long as before."""
    pieces = []
    past = 0
    for mark in marks:
        pieces += [text[past : mark.start], FILLER * (mark.end - mark.start)]
        past = mark.end
    return "".join([*pieces, text[past:]])
