"""Documents to chapters: where each begins, what it is called, whether it is read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

from pipeline.manuscript.book import Block, Chapter, Kind
from pipeline.manuscript.document import Document
from pipeline.manuscript.entries import Entry, Place, choose_entries
from pipeline.manuscript.headings import is_bare_number, is_heading
from pipeline.manuscript.joining import is_cut, join_word
from pipeline.manuscript.matter import NOT_HEARD, Page, is_only_headings, tell_matter
from pipeline.manuscript.prose import clean, first_words
from pipeline.manuscript.reading import Reading

_MIN_BODY_CHARS = 2000
_WORD = re.compile(r"[^\W\d_]+")


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
    chosen = choose_entries(documents, entries, guided or {})
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
