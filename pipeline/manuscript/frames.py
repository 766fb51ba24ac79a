"""The open elements of a tree that is read, and what they pass on to those within."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from pipeline.manuscript.book import Kind
from pipeline.manuscript.lists import Numbering
from pipeline.manuscript.verse import is_all_spans, verse_marks

_KINDS = {
    "hgroup": Kind.HEADING,
    "hd": Kind.HEADING,
    "doctitle": Kind.HEADING,
    "li": Kind.LIST_ITEM,
    "dt": Kind.LIST_ITEM,
    "dd": Kind.LIST_ITEM,
    "blockquote": Kind.QUOTE,
}
_HEADING = re.compile(r"h([1-6])")


@dataclass(slots=True)
class Frame:
    """An open element. The nearest one that is a block is the node of the spans of the text in it."""

    path: str
    start: int  # where its text begins, in characters of the whole file's text
    kind: Kind
    level: int = 0
    verse: bool = False
    stanza: str = ""  # path of the element whose lines are one stanza
    has_explicit_stanza: bool = False
    is_data: bool = False  # a table that is read row by row
    in_row: bool = False
    in_raised: bool = False
    in_link: bool = False
    leaves: str = ""  # why all text in it but that of notes is left out
    note: str = ""  # key of the note it lies in
    list_style: str = ""
    numbering: Numbering | None = None
    is_unseen: bool = False  # left out for its visibility, which something within may have again
    is_initial: bool = False
    is_block: bool = True
    is_line: bool = False
    has_line_spans: bool = False
    classes: str = ""
    tag: str = ""
    matter: int = -1
    num_emitted: int = 0
    num_pictures: int = 0
    num_children: int = 0

    def inside(self, path: str, start: int) -> Frame:
        """A child's frame, with what it inherits."""
        return Frame(
            path,
            start,
            self.kind,
            self.level,
            self.verse,
            self.stanza,
            self.has_explicit_stanza,
            self.is_data,
            self.in_row,
            self.in_raised,
            self.in_link,
            self.leaves,
            self.note,
            self.list_style,
            self.numbering,
            is_unseen=self.is_unseen,
            matter=self.matter,
        )

    def set_kind(self, element: etree._Element, types: frozenset[str]) -> None:
        """What its blocks are, by its tag and role."""
        if found := _HEADING.fullmatch(self.tag):
            self.kind, self.level = Kind.HEADING, int(found[1])
        elif "heading" in types:
            level = element.get("aria-level") or "2"
            self.kind, self.level = Kind.HEADING, int(level) if re.fullmatch("[1-6]", level) else 2
        elif self.kind is not Kind.HEADING and self.tag in _KINDS:
            self.kind, self.level = _KINDS[self.tag], 0

    def set_verse(self, parent: Frame, element: etree._Element, types: frozenset[str]) -> None:
        """Whether it holds verse, and of which stanza its lines are."""
        is_verse, is_stanza = verse_marks(element, self.tag, types)
        self.verse = self.verse or is_verse
        if not self.verse:
            return
        self.has_line_spans = is_all_spans(element)
        if is_stanza:
            self.stanza, self.has_explicit_stanza = self.path, True
        elif not self.has_explicit_stanza:
            # An element with lines in it is a stanza; one that is a line itself belongs to its parent's.
            has_lines = self.has_line_spans or element.find(".//{*}br") is not None
            self.stanza = self.path if has_lines else parent.path
