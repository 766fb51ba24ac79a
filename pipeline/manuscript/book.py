"""What the author wrote: the types every reader fills. They know no file format and no voice."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What a block is. `BREAK` is a change of scene: it has no text, and is heard as a pause."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    VERSE = "verse"
    QUOTE = "quote"
    LIST_ITEM = "list item"
    BREAK = "break"


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the source.

    `file` is the name inside the EPUB (or the manuscript's own name), `node` the XPath of an element in
    it (empty for plain text), `start` and `end` count characters of that element's whole text content,
    as XPath's `string()` gives it; of the decoded file where there is no node.
    """

    file: str
    node: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph or the like: clean prose without markup, white space collapsed, nothing respelt.

    `continues` says that it is read on from the block before without a paragraph's pause: a verse line
    within its stanza. `added` are the ranges of `text` that don't stand in the source as text, such as a list's
    number or a formula's alttext.
    """

    kind: Kind
    text: str
    span: Span
    continues: bool = False
    added: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Text of the manuscript that is not read aloud, and why."""

    text: str
    reason: str
    span: Span


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter in reading order. `index` counts from 1 over all chapters, kept or not.

    `matter` is what front or back matter it is ("copyright page", "dedication"), empty for the body. A chapter
    that isn't read, or has nothing to say, is not kept; `reason` then says why.
    """

    index: int
    title: str
    blocks: tuple[Block, ...]
    kept: bool = True
    reason: str = ""
    matter: str = ""


@dataclass(frozen=True, slots=True)
class Cover:
    """The cover picture as it lies in the manuscript. `media_type` is `image/jpeg` or `image/png`."""

    media_type: str
    data: bytes

    @classmethod
    def of(cls, data: bytes) -> Cover | None:
        """A picture by its first bytes; None where it is neither JPEG nor PNG."""
        if data.startswith(b"\xff\xd8\xff"):
            return cls("image/jpeg", data)
        return cls("image/png", data) if data.startswith(b"\x89PNG\r\n\x1a\n") else None


@dataclass(frozen=True, slots=True)
class Book:
    """A manuscript, read. `language` is a BCP 47 tag; empty strings mean that the manuscript doesn't say."""

    title: str
    authors: tuple[str, ...]
    language: str
    chapters: tuple[Chapter, ...]
    left_out: tuple[LeftOut, ...] = ()
    cover: Cover | None = None
    publisher: str = ""
    date: str = ""
    notes: tuple[str, ...] = field(default=())
    """Sentences about what the reader met and mended (a missing file in the spine, say), for `plan`."""
