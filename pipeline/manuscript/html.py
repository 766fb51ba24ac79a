"""A tree of XHTML or HTML to blocks: every visible word once, in order, each with its span."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from pipeline.manuscript.book import Block, Kind, LeftOut, Span
from pipeline.manuscript.document import Document
from pipeline.manuscript.left_out import BLOCKS, MATTER_BY_TYPE, reason_to_leave_out, visible_text
from pipeline.manuscript.markup import OPS, local_name, types_of
from pipeline.manuscript.prose import BLANK, clean, is_ornament

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
_VERSE = frozenset(["verse", "poem", "poetry", "stanza", "song", "hymn", "lyrics", "linegroup", "line-group"])
_STANZA = frozenset(["stanza", "linegroup", "line-group"])


def read_tree(root: etree._Element, file: str) -> Document:
    """Read a whole tree. Linear in its size."""
    return _Reader(file).read(root)


def leave_out_tree(root: etree._Element, file: str, reason: str) -> LeftOut:
    """A whole file that is not read aloud."""
    text, num_chars = visible_text(root)
    return LeftOut(text, reason, Span(file, "/*", 0, num_chars))


@dataclass(slots=True)
class _Frame:
    """An open element. The nearest one that is a block is the node of the spans of the text in it."""

    path: str
    start: int  # where its text begins, in characters of the whole file's text
    kind: Kind
    level: int = 0
    verse: bool = False
    stanza: str = ""  # path of the element whose lines are one stanza
    has_explicit_stanza: bool = False
    is_block: bool = True
    is_line: bool = False
    has_line_spans: bool = False
    matter: str = ""
    first_block: int = 0
    num_children: int = 0


class _Reader:
    def __init__(self, file: str) -> None:
        self.document = Document(file)
        self._frames: list[_Frame] = []
        self._blocks: list[_Frame] = []
        self._position = 0
        self._pieces: list[str] = []
        self._first: int | None = None
        self._last = 0
        self._num_breaks = 0
        self._stanza = ""  # of the verse line emitted last, while nothing else came after it

    def read(self, root: etree._Element) -> Document:
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if self._open(element):
                    self._add(element.text)
                else:
                    walk.skip_subtree()
            else:
                if event == "end":
                    self._close()
                if element is not root and self._frames:
                    self._add(element.tail)
        self._flush()
        return self.document

    def _open(self, element: etree._Element) -> bool:
        """Enter an element; False when it is left out, or has nothing in it to be walked."""
        tag = local_name(element)
        parent = self._frames[-1] if self._frames else _Frame("", 0, Kind.PARAGRAPH)
        parent.num_children += 1
        path = f"{parent.path}/*[{parent.num_children}]" if parent.path else "/*"
        is_block = tag in BLOCKS or not self._frames
        if is_block:
            self._flush()
        self._note_anchors(element)
        types = types_of(element) if element.attrib else frozenset()
        frame = self._frame(element, tag, path, parent, is_block, types)
        self._frames.append(frame)
        if is_block:
            self._blocks.append(frame)
        if reason := self._reason(element, tag, types):
            self._leave_out(element, path, reason)
            return False
        self._meet(element, tag, frame)
        return True

    def _reason(self, element: etree._Element, tag: str, types: frozenset[str]) -> str:
        if tag == "case" and isinstance(element.tag, str) and OPS in element.tag:
            return "alternative for other readers"  # of an epub:switch, whose default is read
        return reason_to_leave_out(element, tag, types)

    def _frame(
        self,
        element: etree._Element,
        tag: str,
        path: str,
        parent: _Frame,
        is_block: bool,
        types: frozenset[str],
    ) -> _Frame:
        frame = _Frame(
            path,
            self._position,
            parent.kind,
            parent.level,
            parent.verse,
            parent.stanza,
            parent.has_explicit_stanza,
            is_block,
            first_block=len(self.document.blocks),
        )
        if is_block:
            _set_kind(frame, element, tag, types)
            _set_verse(frame, parent, element, types)
            frame.matter = next((MATTER_BY_TYPE[kind] for kind in sorted(types) if kind in MATTER_BY_TYPE), "")
        elif tag == "span" and parent.is_block and parent.verse:
            frame.is_line = parent.has_line_spans
            if frame.is_line:
                self._flush()
        return frame

    def _close(self) -> None:
        frame = self._frames.pop()
        if frame.is_block or frame.is_line:
            self._flush()
        if frame.is_block:
            self._blocks.pop()
        num_blocks = len(self.document.blocks)
        if frame.matter and num_blocks > frame.first_block:
            self.document.matter.append((frame.matter, frame.first_block, num_blocks))

    def _meet(self, element: etree._Element, tag: str, frame: _Frame) -> None:
        """What an element does besides holding text."""
        if tag == "br":
            self._break_line(frame)
        elif tag == "hr":
            self._emit(Block(Kind.BREAK, "", Span(self.document.file, frame.path, 0, 0)))
        elif tag in ("img", "image", "svg"):
            self.document.has_pictures = True
            letter = element.get("alt") or ""
            if len(letter) == 1 and "drop" in (element.get("class") or "").lower():
                self._add_piece(letter, self._position, self._position)  # a picture of the first letter

    def _break_line(self, frame: _Frame) -> None:
        self._num_breaks += 1
        if frame.kind is Kind.HEADING or (not frame.verse and self._num_breaks == 1):
            self._pieces.append(" ")
            return
        self._flush()
        if self._num_breaks > 1:  # an empty line: a paragraph or stanza ends, though nobody wrote <p>
            self._stanza = ""

    def _note_anchors(self, element: etree._Element) -> None:
        if element.attrib:
            name = element.get("id") or (element.get("name") if local_name(element) == "a" else None)
            if name:
                self.document.anchors.setdefault(name, len(self.document.blocks))

    def _leave_out(self, element: etree._Element, path: str, reason: str) -> None:
        for inner in element.iterdescendants("*"):
            self._note_anchors(inner)
        text, num_chars = visible_text(element)
        if text:
            span = Span(self.document.file, path, 0, num_chars)
            self.document.left_out.append(LeftOut(text, reason, span))
        self._position += num_chars

    def _add(self, raw: str | None) -> None:
        if not raw:
            return
        visible = raw.strip(BLANK)
        if visible:
            first = self._position + len(raw) - len(raw.lstrip(BLANK))
            self._add_piece(raw, first, first + len(visible))
        else:
            self._pieces.append(raw)
        self._position += len(raw)

    def _add_piece(self, piece: str, first: int, last: int) -> None:
        self._pieces.append(piece)
        self._first = first if self._first is None else self._first
        self._last = last
        self._num_breaks = 0

    def _flush(self) -> None:
        """End the block at hand. It lies in the innermost open block element: each border flushes."""
        if self._first is not None:
            frame = self._blocks[-1]
            span = Span(self.document.file, frame.path, self._first - frame.start, self._last - frame.start)
            text = clean("".join(self._pieces))
            if is_ornament(text):
                self._emit(Block(Kind.BREAK, "", span))
            elif frame.verse and frame.kind is not Kind.HEADING:
                continues = self._stanza == frame.stanza
                self._emit(Block(Kind.VERSE, text, span, continues))
                self._stanza = frame.stanza
            else:
                if frame.kind is Kind.HEADING and frame.level:
                    self.document.levels[len(self.document.blocks)] = frame.level
                self._emit(Block(frame.kind, text, span))
        self._pieces.clear()
        self._first = None

    def _emit(self, block: Block) -> None:
        self.document.blocks.append(block)
        self._stanza = ""


def _set_kind(frame: _Frame, element: etree._Element, tag: str, types: frozenset[str]) -> None:
    if found := _HEADING.fullmatch(tag):
        frame.kind, frame.level = Kind.HEADING, int(found[1])
    elif "heading" in types:
        level = element.get("aria-level") or "2"
        frame.kind, frame.level = Kind.HEADING, int(level) if re.fullmatch("[1-6]", level) else 2
    elif frame.kind is not Kind.HEADING and tag in _KINDS:
        frame.kind, frame.level = _KINDS[tag], 0


def _set_verse(frame: _Frame, parent: _Frame, element: etree._Element, types: frozenset[str]) -> None:
    words = (element.get("class") or "").lower().split() if element.attrib else []
    marks = {word.removeprefix("z3998:").rstrip("0123456789") for word in (*words, *types)}
    if local_name(element) == "linegroup":
        marks.add("linegroup")
    frame.verse = frame.verse or not marks.isdisjoint(_VERSE)
    if not frame.verse:
        return
    frame.has_line_spans = _is_all_spans(element)
    if not marks.isdisjoint(_STANZA):
        frame.stanza, frame.has_explicit_stanza = frame.path, True
    elif not frame.has_explicit_stanza:
        # An element with lines in it is a stanza; one that is a line itself belongs to its parent's.
        has_lines = frame.has_line_spans or element.find(".//{*}br") is not None
        frame.stanza = frame.path if has_lines else parent.path


def _is_all_spans(element: etree._Element) -> bool:
    """Whether a block has two spans or more and no text outside them: one span a line."""
    num_spans = 0
    for child in element:
        name = local_name(child)
        if (child.tail or "").strip() or name not in ("span", "br", ""):
            return False
        num_spans += name == "span"
    return num_spans > 1 and not (element.text or "").strip()
