"""Documents to chapters: where each begins, what it is called, whether it is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.manuscript.book import Block, Chapter, Kind
from pipeline.manuscript.document import Document
from pipeline.manuscript.headings import is_bare_number, is_heading, is_part_title
from pipeline.manuscript.joining import is_cut, join_word
from pipeline.manuscript.matter import NOT_HEARD, Page, is_only_headings, tell_matter
from pipeline.manuscript.prose import clean, first_words
from pipeline.manuscript.reading import Reading

_MIN_BODY_CHARS = 2000
_WHOLE_BOOK_SHARE = 0.8
_MIN_HIDDEN_CHAPTERS = 3
_WORD = re.compile(r"[^\W\d_]+")


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
    part: str = ""
    """The title of the part it lies in."""
    file_title: bool = False
    """Where the table of contents doesn't list it and it has no heading, the file's name is its title."""


class _Piece(NamedTuple):
    entry: Entry
    start: Place
    blocks: tuple[Block, ...]
    matter: str
    num_linked: int


def divide(
    documents: Sequence[Document],
    entries: Sequence[Entry] = (),
    guided: Mapping[Place, str] | None = None,
    reading: Reading | None = None,
    title: str = "",
    authors: Sequence[str] = (),
) -> tuple[Chapter, ...]:
    """Divide documents into chapters at a table of contents' entries, or at headings where it says nothing.

    `guided` is the front and back matter that a guide or landmarks name, by where it begins. `title` and `authors`
    are those of the book, by which a title page is known. A word that the border of two files cuts is made whole, and
    what it leaves behind is added to `Document.left_out`.
    """
    if not documents:
        return ()
    chosen = list(entries)
    if len(chosen) < 2:
        headings = _heading_entries(documents)
        if len(headings) > 1 and (not chosen or _are_chapters(headings)):
            chosen = headings
    else:
        chosen += _hidden_chapters(documents, chosen)
    if not chosen:
        chosen = [Entry(Place(index, 0)) for index in range(len(documents))]
    chosen = _with_unlisted(documents, _merge_same_places(chosen), guided or {})
    chosen = _take_headings_along(documents, chosen)
    pieces = _join_part_titles(_Cutter(documents, reading or Reading()).cut(chosen))
    titles = _titles(pieces, documents)
    reasons = [{left.reason for left in document.left_out} for document in documents]
    chapters = []
    for index, (piece, page) in enumerate(zip(pieces, _pages(pieces, titles, guided or {}), strict=True)):
        matter, told_by = tell_matter(page, title, authors)
        if not piece.blocks and "note" in reasons[piece.start.document]:
            matter = matter or "notes"
        has_pictures = documents[piece.start.document].has_pictures
        reason = _silence(piece, reasons[piece.start.document], has_pictures, matter)
        if not reason and matter in NOT_HEARD:
            reason = f"{matter}, by its {told_by}"
        chapters.append(Chapter(index + 1, titles[index], piece.blocks, not reason, reason, matter))
    return _keep_something(chapters)


def _heading_entries(documents: Sequence[Document]) -> list[Entry]:
    """An entry at each heading of the highest level that comes more than once; where they head parts, the next too."""
    by_level: dict[int, list[Entry]] = {}
    for number, document in enumerate(documents):
        for block, level in sorted(document.levels.items()):
            title = document.blocks[block].text
            is_second_line = document.levels.get(block - 1) == level and not (
                is_heading(title) or is_bare_number(title)
            )
            if not is_second_line:
                entry = Entry(Place(number, block), title, level, is_part_title(title))
                by_level.setdefault(level, []).append(entry)
    levels = [level for level in sorted(by_level) if len(by_level[level]) > 1]
    if not levels:
        return []
    chosen = list(by_level[levels[0]])
    if len(levels) > 1 and sum(entry.is_part for entry in chosen) > 1:
        chosen += by_level[levels[1]]
    chosen.sort(key=lambda entry: entry.place)
    part = ""
    for index, entry in enumerate(chosen):
        part = entry.title if entry.is_part else part if entry.depth > levels[0] else ""
        chosen[index] = replace(entry, part="" if entry.is_part else part)
    return chosen


def _hidden_chapters(documents: Sequence[Document], entries: Sequence[Entry]) -> list[Entry]:
    """The headings within the one entry that holds nearly the whole book: the contents list "Cover, Start, Rights"."""
    ordered = sorted({entry.place for entry in entries})
    headings = [entry for entry in _heading_entries(documents) if entry.place not in ordered]
    if len(headings) < _MIN_HIDDEN_CHAPTERS:
        return []
    sizes = [sum(len(block.text) for block in document.blocks) for document in documents]
    for first, end in zip(ordered, [*ordered[1:], Place(len(documents), 0)], strict=True):
        inside = [entry for entry in headings if first < entry.place < end]
        if len(inside) < _MIN_HIDDEN_CHAPTERS:
            continue
        num_chars = sum(sizes[first.document + 1 : end.document])
        if first.document == end.document:
            num_chars = sum(len(block.text) for block in documents[first.document].blocks[first.block : end.block])
        else:
            num_chars += sum(len(block.text) for block in documents[first.document].blocks[first.block :])
        if num_chars >= _WHOLE_BOOK_SHARE * sum(sizes):
            return inside if _are_chapters(inside) else []
    return []


def _are_chapters(entries: Sequence[Entry]) -> bool:
    """Whether headings that no contents list head chapters: by their wording, or since each begins a file.

    Others head the sections of one chapter.
    """
    num_worded = sum(is_heading(entry.title) or is_bare_number(entry.title) for entry in entries)
    num_first = len({entry.place.document for entry in entries if entry.place.block == 0})
    return 2 * num_worded >= len(entries) or 2 * num_first > len(entries)


def _merge_same_places(entries: Sequence[Entry]) -> list[Entry]:
    """One entry a place, in reading order. A chapter's title goes before that of the part it opens."""
    merged: dict[Place, Entry] = {}
    for entry in sorted(entries, key=lambda entry: entry.place):
        known = merged.get(entry.place)
        if known is None or not known.title or (entry.depth > known.depth and entry.title):
            merged[entry.place] = entry
    return list(merged.values())


def _with_unlisted(documents: Sequence[Document], entries: Sequence[Entry], guided: Mapping[Place, str]) -> list[Entry]:
    """Add entries for what no table of contents lists: front files, and front or back matter further on.

    Within a file they are added where matter begins that isn't heard, and at all the borders of what comes before the
    first entry.
    """
    result = list(entries)
    listed = {entry.place.document for entry in entries}
    first = entries[0].place
    was_matter = False
    for number, document in enumerate(documents):
        is_front = number < first.document or (number == first.document and first.block > 0)
        is_typed = bool(document.blocks and document.matter_of(0, len(document.blocks)))
        is_matter = is_typed or (Place(number, 0) in guided and number not in listed)
        if number in listed and not is_front:
            was_matter = False
        elif is_front or is_matter or was_matter:
            result.append(Entry(Place(number, 0), file_title=number < first.document))
            was_matter = is_matter
        own = sorted(entry.place.block for entry in entries if entry.place.document == number)
        result += [Entry(Place(number, block)) for block in _matter_within(document, own, is_front) if block]
    return sorted({entry.place: entry for entry in reversed(result)}.values(), key=lambda entry: entry.place)


def _matter_within(document: Document, listed: Sequence[int], is_front: bool) -> list[int]:
    """The blocks of a file at which unlisted front or back matter begins or ends, as elements say."""
    starts = []
    first = (listed[0] if listed else len(document.blocks)) if is_front else 0
    ends = [*listed, len(document.blocks)]
    for matter in document.matter:
        if matter.around >= 0 or matter.first == matter.end:
            continue
        if matter.end <= first:
            starts += [matter.first, matter.end]
        elif matter.kind in NOT_HEARD and matter.end in ends:
            starts.append(matter.first)
    return [block for block in dict.fromkeys(starts) if block not in listed and block < len(document.blocks)]


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


class _Cutter:
    """Cuts documents into pieces, and puts the notes that are read where they are to be heard."""

    def __init__(self, documents: Sequence[Document], reading: Reading) -> None:
        self._documents = documents
        self._reads_inline = reading.notes == "inline"
        self._notes = {key: blocks for document in documents for key, blocks in document.notes.items()}
        self._waiting: list[str] = []
        self._words: frozenset[str] | None = None
        self._last: Document | None = None

    def cut(self, entries: Sequence[Entry]) -> list[_Piece]:
        ends = [entry.place for entry in entries[1:]] + [Place(len(self._documents), 0)]
        pieces = [self._cut_piece(entry, end) for entry, end in zip(entries, ends, strict=True)]
        for key in list(self._notes):
            self._place_stray(pieces, key)
        return pieces

    def _place_stray(self, pieces: list[_Piece], key: str) -> None:
        """A note whose mark isn't heard, since it is hidden or in another note, is read where it stands itself."""
        blocks = self._notes.pop(key)
        number = next((i for i, document in enumerate(self._documents) if key in document.notes), 0)
        places = [index for index, piece in enumerate(pieces) if piece.start.document <= number]
        index = places[-1] if places else len(pieces) - 1
        pieces[index] = pieces[index]._replace(blocks=(*pieces[index].blocks, *blocks))

    def _cut_piece(self, entry: Entry, end: Place) -> _Piece:
        blocks: list[Block] = []
        matters = []
        num_linked = 0
        for number in range(entry.place.document, min(end.document + 1, len(self._documents))):
            document = self._documents[number]
            first = entry.place.block if number == entry.place.document else 0
            last = end.block if number == end.document else len(document.blocks)
            if first < last:
                self._append(blocks, document, first, last)
                matters.append(document.matter_of(first, last))
                num_linked += sum(document.linked.get(index, 0) for index in range(first, last))
        self._read_notes(blocks)
        matter = matters[0] if matters and all(matters) else ""
        return _Piece(entry, entry.place, tuple(blocks), matter, num_linked)

    def _append(self, blocks: list[Block], document: Document, first: int, last: int) -> None:
        """Go on in the next file; a paragraph that was cut in two is read on without a pause."""
        for index in range(first, last):
            block = document.blocks[index]
            if index == first and blocks and self._last is not None and is_cut(blocks[-1], block):
                blocks[-1], block = join_word(blocks[-1], block, self._last, document, self._is_word)
                block = replace(block, continues=True)
            elif self._reads_inline and self._waiting and not block.continues:
                self._read_notes(blocks)
            if block.text or block.kind is Kind.BREAK:
                blocks.append(block)
            self._waiting += document.marks.get(index, ())
        self._last = document

    def _read_notes(self, blocks: list[Block]) -> None:
        """Each note once, where its first mark stands."""
        for key in self._waiting:
            blocks += self._notes.pop(key, ())
        self._waiting = []

    def _is_word(self, word: str) -> bool:
        """Whether a word stands somewhere in the book."""
        if self._words is None:
            texts = (block.text.lower() for document in self._documents for block in document.blocks)
            self._words = frozenset(found for text in texts for found in _WORD.findall(text)[1:-1])
        return word in self._words


def _join_part_titles(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Let a part that is only its title be read at the head of its first chapter."""
    joined: list[_Piece] = []
    waiting: tuple[Block, ...] = ()
    for index, piece in enumerate(pieces):
        is_title = is_only_headings(piece.blocks)
        is_last = index + 1 == len(pieces)
        if piece.entry.is_part and is_title and not piece.matter and not is_last:
            waiting += piece.blocks
            continue
        joined.append(piece._replace(blocks=waiting + piece.blocks))
        waiting = ()
    return joined


def _titles(pieces: Sequence[_Piece], documents: Sequence[Document]) -> list[str]:
    """The chapters' titles; where chapters of several parts are called the same, with the part's before it."""
    titles = [clean(piece.entry.title) or _derived_title(piece, documents[piece.start.document]) for piece in pieces]
    parts: dict[str, set[str]] = {}
    for title, piece in zip(titles, pieces, strict=True):
        parts.setdefault(title.casefold(), set()).add(piece.entry.part)
    num_titles = Counter(title.casefold() for title in titles)
    return [
        f"{piece.entry.part}: {title}"
        if num_titles[title.casefold()] > 1 and len(parts[title.casefold()]) > 1 and piece.entry.part
        else title
        for title, piece in zip(titles, pieces, strict=True)
    ]


def _pages(pieces: Sequence[_Piece], titles: Sequence[str], guided: Mapping[Place, str]) -> list[Page]:
    """What tells what each chapter is, and whether it lies before the body of the book, in it, or after it."""
    told = [(piece.matter, "type") if piece.matter else (guided.get(piece.start, ""), "guide") for piece in pieces]
    body = [
        index
        for index, (piece, title) in enumerate(zip(pieces, titles, strict=True))
        if not told[index][0]
        and not tell_matter(Page(title, piece.blocks, place=-1))[0]
        and (is_heading(title) or is_bare_number(title) or sum(len(b.text) for b in piece.blocks) > _MIN_BODY_CHARS)
    ]
    first, last = (body[0], body[-1]) if body else (len(pieces), len(pieces))
    return [
        Page(title, piece.blocks, *told[index], piece.num_linked, (index > last) - (index < first))
        for index, (piece, title) in enumerate(zip(pieces, titles, strict=True))
    ]


def _keep_something(chapters: Sequence[Chapter]) -> tuple[Chapter, ...]:
    """Of a book in which nothing would be heard, what seems to be front matter is read after all."""
    if any(chapter.kept for chapter in chapters):
        return tuple(chapters)
    dropped = [chapter for chapter in chapters if chapter.matter and any(block.text for block in chapter.blocks)]
    unsure = [chapter for chapter in dropped if not chapter.reason.endswith("by its type")] or dropped
    indexes = {chapter.index for chapter in unsure}
    return tuple(
        replace(chapter, kept=True, reason="") if chapter.index in indexes else chapter for chapter in chapters
    )


def _derived_title(piece: _Piece, document: Document) -> str:
    stem = PurePosixPath(document.file).stem
    heading = next((block.text for block in piece.blocks if block.kind is Kind.HEADING), "")
    words = next((first_words(block.text) for block in piece.blocks if block.text), "")
    return heading or (stem if piece.entry.file_title else words) or stem


def _silence(piece: _Piece, reasons: Set[str], has_pictures: bool, matter: str) -> str:
    """Why a chapter has nothing to say, or an empty string."""
    if any(block.text for block in piece.blocks):
        if matter == "notes" and is_only_headings(piece.blocks):
            return "nothing to say: its notes are left out, or read elsewhere"
        return ""
    if piece.blocks:
        return "nothing to say: only ornaments"
    if reasons - {"document head"}:
        return "nothing to say: all its text is left out"
    return "nothing to say: only pictures" if has_pictures else "nothing to say: empty"
