"""Project Gutenberg's header, credits and licence around a book: left out, in all wordings since 1991.

A text that only quotes such a line is kept: the header must open the text, and the licence must close it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from heapq import merge
from typing import NamedTuple

from pipeline.manuscript.book import Block, Kind, LeftOut
from pipeline.manuscript.document import Document

HEADER = "Project Gutenberg's header"
CREDITS = "Project Gutenberg's credits"
LICENCE = "Project Gutenberg's licence"

_NAME = r"Project[ ]Gutenberg"
_BOOK = r"E-?(?:book|text)"
_OPENS = re.compile(
    rf"[*\s]*(?:(?:This|The|Welcome To The World of Free Plain Vanilla|A)\b[^.]{{0,60}}?)?{_NAME}(?:[’']s|\b)",
    re.IGNORECASE,
)
_START = re.compile(
    rf"\*\*\*\s*START OF (?:THE|THIS) {_NAME}(?:[’']S)?(?: {_BOOK})?\b"
    rf"|\*+\s*END\s*\*?\s*THE SMALL PRINT"
    rf"|\*END\* ?THE SMALL PRINT",
    re.IGNORECASE,
)
_END = re.compile(
    rf"\*\*\*\s*END OF (?:THE|THIS) {_NAME}(?:[’']S)?(?: {_BOOK})?\b"
    rf"|(?:\*+\s*)?(?:This is the )?End of (?:the |this )?{_NAME}(?:[’']s)?(?: {_BOOK})?\b",
    re.IGNORECASE,
)
_LICENCE_WORDS = re.compile(
    r"Updated editions will replace|This file should be named|FULL LICENSE"
    rf"|{_NAME}(?:-tm|™) |www\.gutenberg\.(?:org|net)",
    re.IGNORECASE,
)
_CREDITS = re.compile(
    r"(?:(?:This )?(?:e-?text|e-?book|book|file|html file)(?: was)? (?:produced|prepared|created|scanned|transcribed)"
    r"|(?:Produced|Prepared|Scanned|Transcribed|Digitized|Typed|HTML version|Updated)(?: and [a-z]+)? (?:by|from)\b"
    r"|Credits:|Note: Project Gutenberg (?:also )?has|\(?https?://(?:www\.)?(?:gutenberg|pgdp|archive)\."
    r"|(?:and (?:the )?)?(?:Online )?Distributed Proofread(?:ers|ing))",
    re.IGNORECASE,
)
_STEP = re.compile(r"\[(\d+)\]")
_MAX_HEADER_CHARS = 25_000
_MAX_LICENCE_CHARS = 40_000
_MAX_OPENING_BLOCKS = 4
_MAX_CREDIT_CHARS = 1500


class Range(NamedTuple):
    """Texts from `first` up to `end`, and what they are."""

    first: int
    end: int
    reason: str


def find_boilerplate(texts: Sequence[str]) -> list[Range]:
    """Which of a book's blocks are Project Gutenberg's, in order. A break between scenes is an empty text."""
    ranges = []
    header = _end_of_header(texts)
    if header:
        ranges.append(Range(0, header, HEADER))
        credits_end = _end_of_credits(texts, header)
        if credits_end > header:
            ranges.append(Range(header, credits_end, CREDITS))
    licence = _start_of_licence(texts, ranges[-1].end if ranges else 0)
    if licence < len(texts):
        ranges.append(Range(licence, len(texts), LICENCE))
    return ranges


def _end_of_header(texts: Sequence[str]) -> int:
    """How many blocks the header has, which ends with the last line that says so."""
    opening = [text for text in texts[:40] if text][:_MAX_OPENING_BLOCKS]
    if not any(_OPENS.match(text) for text in opening) and not (opening and _START.match(opening[0])):
        return 0
    num_chars = end = 0
    for number, text in enumerate(texts):
        # In old web pages the whole header is one block.
        if _START.match(text) or (num_chars == 0 and _ends_with_start(text)):
            end = number + 1
        num_chars += len(text)
        if num_chars > _MAX_HEADER_CHARS:
            break
    return end


def _ends_with_start(text: str) -> bool:
    found = list(_START.finditer(text))
    return bool(found) and len(text) - found[-1].end() < 400 and _OPENS.match(text) is not None


def _end_of_credits(texts: Sequence[str], first: int) -> int:
    end = first
    for number in range(first, len(texts)):
        text = texts[number]
        if text and not (_CREDITS.match(text) and len(text) <= _MAX_CREDIT_CHARS):
            break
        if text:
            end = number + 1
    return end


def _start_of_licence(texts: Sequence[str], header: int) -> int:
    """Where the licence begins: at an end line after which nothing comes but the licence."""
    num_chars = 0
    start = len(texts)
    has_licence = False
    for number in range(len(texts) - 1, header - 1, -1):
        text = texts[number]
        if _END.match(text):
            is_all = num_chars == 0 or has_licence
            if is_all and (text.startswith("*") or num_chars == 0 or _is_end_line(text)):
                start = number
        num_chars += len(text)
        has_licence = has_licence or _LICENCE_WORDS.search(text) is not None
        if num_chars > _MAX_LICENCE_CHARS:
            break
    return start


def _is_end_line(text: str) -> bool:
    return len(text) < 300


def leave_out_boilerplate(documents: Sequence[Document]) -> list[LeftOut]:
    """Take Project Gutenberg's words out of the documents of a book, and return them as what is left out.

    Each reader of a tree calls it before the book is divided. A document's own list gets them, too.
    """
    places = [(document, number) for document in documents for number in range(len(document.blocks))]
    texts = [document.blocks[number].text for document, number in places]
    removed: dict[int, dict[int, str]] = {}
    for first, end, reason in find_boilerplate(texts):
        for document, number in places[first:end]:
            removed.setdefault(id(document), {})[number] = reason
    left_out: list[LeftOut] = []
    for document in documents:
        if id(document) in removed:
            left_out += _remove(document, removed[id(document)])
    return left_out


def _remove(document: Document, reasons: dict[int, str]) -> list[LeftOut]:
    left_out = []
    kept: list[Block] = []
    moved = []  # where each old block is now, or the next one that is kept
    levels, marks, linked = {}, {}, {}
    for number, block in enumerate(document.blocks):
        moved.append(len(kept))
        is_empty = block.kind is Kind.BREAK and block.span.start == block.span.end
        if number not in reasons or (block.kind is Kind.BREAK and not is_empty):
            if number in document.levels:
                levels[len(kept)] = document.levels[number]
            if number in document.marks:
                marks[len(kept)] = document.marks[number]
            if number in document.linked:
                linked[len(kept)] = document.linked[number]
            kept.append(block)
        elif not is_empty:
            left_out.append(LeftOut(_own_text(block), reasons[number], block.span))
    moved.append(len(kept))
    document.opening = "" if 0 in reasons else document.opening
    document.closing = "" if len(document.blocks) - 1 in reasons else document.closing
    document.blocks[:] = kept
    document.levels, document.marks, document.linked = levels, marks, linked
    document.anchors = {name: moved[min(number, len(moved) - 1)] for name, number in document.anchors.items()}
    for matter in document.matter:
        matter.first, matter.end = moved[matter.first], moved[matter.end]
    document.left_out[:] = merge(document.left_out, left_out, key=_place)
    return left_out


def _place(left: LeftOut) -> tuple[tuple[int, ...], int]:
    """Where what is left out stands among the elements of its file."""
    return tuple(int(number) for number in _STEP.findall(left.span.node)), left.span.start


def _own_text(block: Block) -> str:
    text = block.text
    for start, end in reversed(block.added):
        text = text[:start] + text[end:]
    return text


_LANGUAGES = {
    "english": "en", "french": "fr", "german": "de", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "finnish": "fi", "swedish": "sv", "danish": "da", "norwegian": "no", "latin": "la",
    "esperanto": "eo", "greek": "el", "polish": "pl", "hungarian": "hu", "czech": "cs", "russian": "ru",
    "chinese": "zh", "japanese": "ja", "catalan": "ca", "welsh": "cy",
}  # fmt: skip
_FIELD = re.compile(
    r"^[ ]{0,4}(Title|Authors?|Language):[ \t]*(\S[^\r\n]*(?:\r?\n[ \t]{3,}[^\s:][^\r\n:]*$)*)", re.MULTILINE
)


def read_header_fields(header: str) -> dict[str, str]:
    """What a header in plain text says of `title`, `author` and `language` (a BCP 47 tag)."""
    fields: dict[str, str] = {}
    for name, value in _FIELD.findall(header):
        fields.setdefault(name.lower().rstrip("s"), " ".join(value.split()))
    if "language" in fields:
        fields["language"] = _LANGUAGES.get(fields["language"].split(",")[0].strip().lower(), "")
    return fields
