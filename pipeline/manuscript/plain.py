"""Plain text to a `Book`: lines joined into paragraphs, headings found by their wording and their place."""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Sequence

from pipeline.manuscript.book import Block, Book, Kind, LeftOut, Span
from pipeline.manuscript.document import Document
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.gutenberg import HEADER, find_boilerplate, read_header_fields
from pipeline.manuscript.headings import is_bare_number
from pipeline.manuscript.left_out import SCENE_BREAK
from pipeline.manuscript.one_document import make_book
from pipeline.manuscript.proof import source_of_text
from pipeline.manuscript.prose import BLANK, clean, ends_sentence, is_ornament
from pipeline.manuscript.reading import Notes, Reading
from pipeline.manuscript.text_contents import find_contents
from pipeline.manuscript.text_headings import find_headings
from pipeline.manuscript.text_lines import Layout, Line, Paragraph, read_paragraphs, split_lines
from pipeline.manuscript.transcriber import Mark, blank_out, find_marks

_SCENE_GAP = 2
"""So many blank lines more than between paragraphs are a change of scene."""


def read_plain(name: str, data: bytes, reading: Reading | None = None) -> Book:
    """Read plain text in any encoding. Title, authors and language are those that Project Gutenberg's header states."""
    text = decode_text(data)
    reading = reading or Reading()
    document = read_plain_text(text, name, reading.notes)
    header = [left.span for left in document.left_out if left.reason == HEADER]
    fields = read_header_fields(text[header[0].start : header[-1].end]) if header else {}
    author = fields.get("author", "")
    return make_book(
        document,
        reading,
        title=fields.get("title", ""),
        authors=(author,) if author else (),
        language=fields.get("language", ""),
    )


def read_plain_text(text: str, name: str, notes: Notes = "skip") -> Document:
    """The blocks of a text. Spans are characters of it, and their node is empty."""
    document = _Reader(text, name, notes).read()
    document.source = source_of_text(text)
    return document


class _Reader:
    def __init__(self, text: str, name: str, notes: Notes) -> None:
        self.document = Document(name)
        self._text = text
        self._marks = [mark for mark in find_marks(text) if notes == "skip" or not _stays(mark, text)]
        self._notes = notes
        self._chapters: list[int] = []  # where each begins, in characters
        self._gone: list[tuple[int, int]] = []  # places that are left out with all marks in them

    def read(self) -> Document:
        text = blank_out(self._text, self._marks)
        lines = split_lines(text)
        contents = {line.start for line in self._leave_out_contents(lines)}
        lines = [line for line in lines if line.start not in contents]
        paragraphs = read_paragraphs(lines, Layout(lines))
        paragraphs = self._leave_out_boilerplate(paragraphs)
        paragraphs = self._leave_out_page_numbers(paragraphs)
        levels = find_headings(paragraphs)
        usual_gap = Counter(paragraph.gap for paragraph in paragraphs).most_common(1)[0][0] if paragraphs else 0
        for number, paragraph in enumerate(paragraphs):
            is_scene = number and paragraph.gap >= usual_gap + _SCENE_GAP and paragraph.gap > 1
            if is_scene and not {number - 1, number} & levels.keys() and ends_sentence(paragraphs[number - 1].text):
                self._add(Block(Kind.BREAK, "", self._span(paragraph.start, paragraph.start)))
            self._add_paragraph(paragraph, levels.get(number))
        self._add_marks()
        self.document.left_out.sort(key=lambda left: left.span.start)
        return self.document

    def _span(self, start: int, end: int) -> Span:
        return Span(self.document.file, "", start, end)

    def _add(self, block: Block) -> None:
        self.document.blocks.append(block)

    def _leave_out(self, start: int, end: int, reason: str, text: str = "") -> None:
        text = text or clean(self._text[start:end])
        if text:
            self.document.left_out.append(LeftOut(text, reason, self._span(start, end)))

    def _leave_out_whole(self, start: int, end: int, reason: str) -> None:
        self._leave_out(start, end, reason)
        self._gone.append((start, end))

    def _is_gone(self, mark: Mark) -> bool:
        number = bisect.bisect_right(self._gone, (mark.start, len(self._text))) - 1
        return number >= 0 and mark.end <= self._gone[number][1]

    def _leave_out_contents(self, lines: Sequence[Line]) -> list[Line]:
        contents = find_contents(lines)
        for line in contents:
            start = line.start + len(line.text) - len(line.text.lstrip(BLANK))
            self._leave_out_whole(start, line.start + len(line.text.rstrip(BLANK)), "table of contents")
        return contents

    def _leave_out_boilerplate(self, paragraphs: list[Paragraph]) -> list[Paragraph]:
        kept = list(paragraphs)
        for first, end, reason in reversed(find_boilerplate([paragraph.text for paragraph in paragraphs])):
            for paragraph in paragraphs[first:end]:
                self._leave_out_whole(paragraph.start, paragraph.end, reason)
                if paragraph.underline:
                    self._leave_out_dropped(paragraph)
            del kept[first:end]
        return kept

    def _leave_out_page_numbers(self, paragraphs: list[Paragraph]) -> list[Paragraph]:
        """Pages end in the middle of a sentence: what follows their number is read on without a pause."""
        kept: list[Paragraph] = []
        page_ends = sorted(mark.start for mark in self._marks if mark.reason != "note")
        for number, paragraph in enumerate(paragraphs):
            after = paragraphs[number + 1] if number + 1 < len(paragraphs) else None
            before = kept[-1] if kept else None
            if before and after and _goes_on(before, after) and is_bare_number(paragraph.text):
                self._leave_out_whole(paragraph.start, paragraph.end, "page number")
                after.continues = True
                continue
            if before and _goes_on(before, paragraph):
                between = bisect.bisect_left(page_ends, before.end)
                is_new_page = between < len(page_ends) and page_ends[between] < paragraph.start
                if is_new_page or "\f" in self._text[before.end : paragraph.start]:
                    paragraph.continues = True
            kept.append(paragraph)
        return kept

    def _leave_out_dropped(self, paragraph: Paragraph) -> None:
        for start, end, text in paragraph.dropped:
            self._leave_out(start, end, "underline" if paragraph.underline else "hyphen at a line's end", text)

    def _add_paragraph(self, paragraph: Paragraph, level: int | None) -> None:
        if is_ornament(paragraph.text):
            self._leave_out_whole(paragraph.start, paragraph.end, SCENE_BREAK)
            self._add(Block(Kind.BREAK, "", self._span(paragraph.start, paragraph.start)))
            return
        span = self._span(paragraph.start, paragraph.end)
        self._leave_out_dropped(paragraph)
        if level is not None:
            if level:
                self.document.levels[len(self.document.blocks)] = level
            if level == 1:
                self._chapters.append(paragraph.start)
            self._add(Block(Kind.HEADING, paragraph.text, span))
        else:
            kind = Kind.VERSE if paragraph.is_verse else Kind.PARAGRAPH
            self._add(Block(kind, paragraph.text, span, paragraph.continues))

    def _add_marks(self) -> None:
        moved: list[tuple[int, Block]] = []
        self._gone.sort()
        marked = {mark.note: mark.start for mark in reversed(self._marks) if mark.reason == "note mark"}
        for mark in self._marks:
            if self._is_gone(mark):
                continue
            if mark.reason != "note" or self._notes == "skip":
                self._leave_out(mark.start, mark.end, mark.reason)
                continue
            start = self._text.index(":", mark.start) + 1
            self._leave_out(mark.start, start, "note mark")
            self._leave_out(mark.end - 1, mark.end, "note mark")
            place = marked.get(mark.note, mark.start)
            if self._notes == "end":
                chapter = bisect.bisect_right(self._chapters, place)
                place = self._chapters[chapter] - 1 if chapter < len(self._chapters) else len(self._text)
            inner = self._text[start : mark.end - 1]
            inner_marks = find_marks(inner)
            for inner_mark in inner_marks:
                self._leave_out(start + inner_mark.start, start + inner_mark.end, inner_mark.reason)
            if shown := clean(blank_out(inner, inner_marks)):
                moved.append((place, Block(Kind.PARAGRAPH, shown, self._trimmed(start, mark.end - 1))))
        self._insert(moved)

    def _trimmed(self, start: int, end: int) -> Span:
        raw = self._text[start:end]
        return self._span(start + len(raw) - len(raw.lstrip(BLANK)), start + len(raw.rstrip(BLANK)))

    def _insert(self, moved: list[tuple[int, Block]]) -> None:
        """Put each block behind the last one that begins at its place or before it."""
        if not moved:
            return
        document = self.document
        starts = [block.span.start for block in document.blocks]
        behind: dict[int, list[Block]] = {}
        for place, block in moved:
            behind.setdefault(bisect.bisect_right(starts, place), []).append(block)
        blocks: list[Block] = []
        levels = {}
        for number in range(len(document.blocks) + 1):
            blocks += behind.get(number, [])
            if number < len(document.blocks):
                if number in document.levels:
                    levels[len(blocks)] = document.levels[number]
                blocks.append(document.blocks[number])
        document.blocks[:] = blocks
        document.levels = levels


def _stays(mark: Mark, text: str) -> bool:
    """Whether a note stands within a line: it is read there with the words around it."""
    if mark.reason != "note":
        return False
    before = text[: mark.start].rpartition("\n")[2] if mark.start else ""
    after = (
        text[mark.end : mark.end + 1000].splitlines()[0]
        if text[mark.end : mark.end + 1] not in ("", "\n", "\r")
        else ""
    )
    return bool(before.strip() or after.strip())


def _goes_on(before: Paragraph, after: Paragraph) -> bool:
    return after.text[0].islower() and before.text[-1] not in ":;" and not ends_sentence(before.text)
