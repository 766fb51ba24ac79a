"""Documents to chapters: where each begins, what it is called, whether it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.manuscript.book import Block, Chapter, Kind
from pipeline.manuscript.document import Document
from pipeline.manuscript.headings import is_bare_number, is_heading, is_part_title
from pipeline.manuscript.left_out import MATTER_BY_TITLE
from pipeline.manuscript.prose import clean, ends_sentence, first_words

# A guide or landmark may point at the start of a whole book in one file; matter itself is short.
_MAX_GUIDED_CHARS = 12_000


class Place(NamedTuple):
    """Before which block of which document."""

    document: int
    block: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a chapter begins. `is_part` says that chapters lie below it, so it may be a mere title page."""

    place: Place
    title: str = ""
    depth: int = 0
    is_part: bool = False
    file_title: bool = False
    """Where the table of contents doesn't list it and it has no heading, the file's name is its title."""


class _Piece(NamedTuple):
    entry: Entry
    start: Place
    blocks: tuple[Block, ...]
    matter: str


def divide(
    documents: Sequence[Document],
    entries: Sequence[Entry] = (),
    guided: Mapping[Place, str] | None = None,
) -> tuple[Chapter, ...]:
    """Divide documents into chapters at a table of contents' entries, or at headings where it says nothing.

    `guided` is the front and back matter that a guide or landmarks name, by where it begins.
    """
    if not documents:
        return ()
    chosen = list(entries)
    if len(chosen) < 2:
        headings = _heading_entries(documents)
        if len(headings) > 1:
            chosen = headings
    if not chosen:
        chosen = [Entry(Place(index, 0)) for index in range(len(documents))]
    chosen = _with_unlisted(documents, _merge_same_places(chosen))
    chosen = _take_headings_along(documents, chosen)
    pieces = _join_part_titles(_cut(documents, chosen))
    return tuple(
        _chapter(index, piece, documents[piece.start.document], guided or {})
        for index, piece in enumerate(pieces, start=1)
    )


def _heading_entries(documents: Sequence[Document]) -> list[Entry]:
    """An entry at each heading of the highest level that comes more than once."""
    by_level: dict[int, list[Entry]] = {}
    for number, document in enumerate(documents):
        for block, level in document.levels.items():
            title = document.blocks[block].text
            is_second_line = document.levels.get(block - 1) == level and not (
                is_heading(title) or is_bare_number(title)
            )
            if not is_second_line:
                entry = Entry(Place(number, block), title, is_part=is_part_title(title))
                by_level.setdefault(level, []).append(entry)
    return next((by_level[level] for level in sorted(by_level) if len(by_level[level]) > 1), [])


def _merge_same_places(entries: Sequence[Entry]) -> list[Entry]:
    """One entry a place, in reading order. A chapter's title goes before that of the part it opens."""
    merged: dict[Place, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.place):
        known = merged.get(entry.place)
        if known is None or not known.title or (entry.depth > known.depth and entry.title):
            merged[entry.place] = entry
    return list(merged.values())


def _with_unlisted(documents: Sequence[Document], entries: Sequence[Entry]) -> list[Entry]:
    """Add entries for what no table of contents lists: front files, and front or back matter further on."""
    result = list(entries)
    listed = {entry.place.document for entry in entries}
    first = entries[0].place
    was_matter = False
    for number, document in enumerate(documents):
        is_front = number < first.document or (number == first.document and first.block > 0)
        is_matter = bool(document.blocks and document.matter_of(0, len(document.blocks)))
        if number in listed and not is_front:
            was_matter = False
        elif is_front or is_matter or was_matter:
            result.append(Entry(Place(number, 0), file_title=number < first.document))
            was_matter = is_matter
    return sorted(result, key=lambda entry: entry.place)


def _take_headings_along(documents: Sequence[Document], entries: Sequence[Entry]) -> list[Entry]:
    """Move each entry before the headings of its own rank or a higher one that stand right above it."""
    listed = {entry.place for entry in entries if not (entry.place.block == 0 and not entry.title)}
    moved = {}
    for entry in entries:
        number, block = entry.place
        blocks, levels = documents[number].blocks, documents[number].levels
        while block > 0 and blocks[block - 1].kind is Kind.HEADING and Place(number, block - 1) not in listed:
            if levels.get(block - 1, 0) > levels.get(block, 7):
                break  # "The End" below the last chapter's text
            block -= 1
        place = Place(number, block)
        if place not in moved or entry.title:
            moved[place] = replace(entry, place=place)
    return list(moved.values())


def _cut(documents: Sequence[Document], entries: Sequence[Entry]) -> list[_Piece]:
    ends = [entry.place for entry in entries[1:]] + [Place(len(documents), 0)]
    pieces = []
    for entry, end in zip(entries, ends, strict=True):
        blocks: list[Block] = []
        matters = []
        for number in range(entry.place.document, min(end.document + 1, len(documents))):
            document = documents[number]
            first = entry.place.block if number == entry.place.document else 0
            last = end.block if number == end.document else len(document.blocks)
            if first < last:
                _append(blocks, document.blocks[first:last])
                matters.append(document.matter_of(first, last))
        matter = matters[0] if matters and all(matters) else ""
        pieces.append(_Piece(entry, entry.place, tuple(blocks), matter))
    return pieces


def _append(blocks: list[Block], more: Sequence[Block]) -> None:
    """Go on in the next file; a paragraph that was cut in two is read on without a pause."""
    first = more[0]
    if (
        blocks
        and blocks[-1].kind is first.kind is Kind.PARAGRAPH
        and first.text[0].islower()
        and not ends_sentence(blocks[-1].text)
    ):
        first = replace(first, continues=True)
    blocks += [first, *more[1:]]


def _join_part_titles(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Let a part that is only its title be read at the head of its first chapter."""
    joined: list[_Piece] = []
    waiting: tuple[Block, ...] = ()
    for index, piece in enumerate(pieces):
        is_title = bool(piece.blocks) and all(block.kind is Kind.HEADING for block in piece.blocks)
        is_last = index + 1 == len(pieces)
        if piece.entry.is_part and is_title and not piece.matter and not is_last:
            waiting += piece.blocks
            continue
        joined.append(piece._replace(blocks=waiting + piece.blocks))
        waiting = ()
    return joined


def _chapter(index: int, piece: _Piece, document: Document, guided: Mapping[Place, str]) -> Chapter:
    title = clean(piece.entry.title) or _derived_title(piece, document)
    matter = _matter(piece, title, guided)
    reason = _silence(piece, document) or matter
    return Chapter(index, title, piece.blocks, kept=not reason, reason=reason, matter=matter)


def _derived_title(piece: _Piece, document: Document) -> str:
    stem = PurePosixPath(document.file).stem
    heading = next((block.text for block in piece.blocks if block.kind is Kind.HEADING), "")
    words = next((first_words(block.text) for block in piece.blocks if block.text), "")
    return heading or (stem if piece.entry.file_title else words) or stem


def _silence(piece: _Piece, document: Document) -> str:
    """Why a chapter has nothing to say, or an empty string."""
    if any(block.text for block in piece.blocks):
        return ""
    if piece.blocks:
        return "nothing to say: only ornaments"
    if document.left_out and any(left.reason != "document head" for left in document.left_out):
        return "nothing to say: all its text is left out"
    return "nothing to say: only pictures" if document.has_pictures else "nothing to say: empty"


def _matter(piece: _Piece, title: str, guided: Mapping[Place, str]) -> str:
    """What front or back matter a chapter is, or an empty string."""
    num_chars = sum(len(block.text) for block in piece.blocks)
    by_guide = guided.get(piece.start, "") if num_chars <= _MAX_GUIDED_CHARS else ""
    return piece.matter or MATTER_BY_TITLE.get(title.casefold().strip(" .:"), "") or by_guide
