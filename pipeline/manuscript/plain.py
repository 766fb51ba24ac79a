"""Plain text to a `Book`: lines joined into paragraphs, headings found by their wording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.manuscript.book import Block, Book, Kind, Span
from pipeline.manuscript.chapters import divide
from pipeline.manuscript.document import Document
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.headings import is_bare_heading, is_bare_number, is_heading, looks_like_title
from pipeline.manuscript.prose import BLANK, clean, ends_sentence, is_ornament

_LONG_LINE = 120


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    def is_blank(self) -> bool:
        return not self.text.strip(BLANK)

    def is_indented(self) -> bool:
        return self.text.startswith(("  ", "\t", "\u3000", "\u00a0"))


_Paragraph = Sequence[_Line]


def read_plain(name: str, data: bytes) -> Book:
    """Read plain text in any encoding. The title and authors are not guessed."""
    document = read_plain_text(decode_text(data), name)
    return Book("", (), "", divide([document]))


def read_plain_text(text: str, name: str) -> Document:
    document = Document(name)
    lines = _lines(text)
    groups = list(_groups(lines))
    is_wrapped = _is_wrapped(lines)
    awaits_title = False
    for group in groups:
        for paragraph in _paragraphs(group, is_wrapped, is_only=len(groups) == 1):
            awaits_title = _add(document, paragraph, awaits_title)
    return document


def _lines(text: str) -> list[_Line]:
    lines = []
    start = 0
    for line in text.splitlines(keepends=True):
        lines.append(_Line(start, line))
        start += len(line)
    return lines


def _groups(lines: Sequence[_Line]) -> Iterator[list[_Line]]:
    """Runs of lines between blank ones; ornaments stand alone, as does a heading above text."""
    group: list[_Line] = []
    for line in lines:
        is_alone = is_ornament(clean(line.text)) or (not group and is_bare_heading(clean(line.text)))
        if group and (line.is_blank() or is_alone):
            yield group
            group = []
        if is_alone:
            yield [line]
        elif not line.is_blank():
            group.append(line)
    if group:
        yield group


def _is_wrapped(lines: Sequence[_Line]) -> bool:
    """Whether lines are broken at a width, rather than each being a paragraph."""
    lengths = sorted(len(line.text) for line in lines if not line.is_blank())
    return bool(lengths) and lengths[len(lengths) * 9 // 10] <= _LONG_LINE


def _paragraphs(group: list[_Line], is_wrapped: bool, is_only: bool) -> list[_Paragraph]:
    num_ends = sum(ends_sentence(clean(line.text)) for line in group)
    if not is_wrapped or (len(group) > 2 and num_ends >= 0.9 * len(group)):
        return [[line] for line in group]
    num_indented = sum(line.is_indented() for line in group[1:])
    if is_only and 0 < num_indented < 0.8 * len(group):  # no blank lines at all: an indent begins a paragraph
        paragraphs: list[list[_Line]] = []
        for line in group:
            if line.is_indented() or not paragraphs:
                paragraphs.append([])
            paragraphs[-1].append(line)
        return list(paragraphs)
    return [group]


def _add(document: Document, paragraph: _Paragraph, awaits_title: bool) -> bool:
    """Add a paragraph as the block it is; True when it is a heading whose title may follow."""
    raw = "".join(line.text for line in paragraph)
    text = clean(raw)
    if not text:
        return False
    start = paragraph[0].start + len(raw) - len(raw.lstrip(BLANK))
    span = Span(document.file, "", start, paragraph[0].start + len(raw.rstrip(BLANK)))
    if is_ornament(text):
        document.blocks.append(Block(Kind.BREAK, "", span))
        return False
    is_one_line = len(paragraph) == 1
    if is_one_line and (is_heading(text) or (is_bare_number(text) and _may_interrupt(document))):
        document.levels[len(document.blocks)] = 1
        document.blocks.append(Block(Kind.HEADING, text, span))
        return is_bare_heading(text) or is_bare_number(text)
    is_title = awaits_title and is_one_line and looks_like_title(text)
    document.blocks.append(Block(Kind.HEADING if is_title else Kind.PARAGRAPH, text, span))
    return False


def _may_interrupt(document: Document) -> bool:
    """A number alone is a heading, unless the sentence before it is still going on: then it is a page's."""
    if not document.blocks:
        return True
    last = document.blocks[-1]
    is_title = looks_like_title(last.text) and last.text.split()[-1][0].isupper()
    return last.kind is not Kind.PARAGRAPH or ends_sentence(last.text) or is_title
