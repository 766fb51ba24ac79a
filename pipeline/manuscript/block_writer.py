"""The blocks of a tree that is read, and what of it is left out, each with its place."""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.block_text import BlockText
from pipeline.manuscript.book import Block, Kind, LeftOut, Span
from pipeline.manuscript.document import Document
from pipeline.manuscript.frames import Frame
from pipeline.manuscript.headings import heading_level, is_bare_heading, looks_like_title
from pipeline.manuscript.leaving import LeftOuts
from pipeline.manuscript.left_out import SCENE_BREAK, visible_text
from pipeline.manuscript.markup import local_name
from pipeline.manuscript.prose import BLANK, clean, is_ornament

_LABEL = r"\s*[\[(]?{label}(?:[\])]?[.:)\]]|{end})\s*"
_AFTER_LABEL = re.compile(r"[\s.:)\]]+")
_NOTE_PREFIXES = {
    "": "Note.",
    "en": "Note.",
    "de": "Anmerkung.",
    "fr": "Note.",
    "nl": "Noot.",
    **dict.fromkeys(("it", "es", "pt", "ca", "gl"), "Nota."),
}
"""What is heard before a note, by language; nothing in others."""


class BlockWriter:
    """Takes the text of a tree piece by piece, in its order. Places are characters of the whole file's text."""

    def __init__(self, file: str, language: str) -> None:
        self.document = Document(file)
        self.left = LeftOuts(file)
        self.text = BlockText()
        self.frames: list[Frame] = []
        """The open elements, from the root inwards, and those of them that are blocks."""
        self.blocks: list[Frame] = []
        self.position = 0
        self.num_breaks = 0
        self.num_emitted = 0
        self.stanza = ""
        """Of the verse line emitted last, while nothing else came after it."""
        self.label = ""
        """Of a note's mark, which its text may begin with."""
        self.carries = False
        """Whether a drop cap in a block of its own waits for its word."""
        self.styled: dict[int, bool] = {}
        """Headings that are none by tag, and whether each has a level."""
        self._note_prefix = _NOTE_PREFIXES.get(language, "")
        self._num_linked = 0
        self._skipped = 0  # characters of the text to come that are left out already
        self._awaits_title = False

    def note_anchors(self, element: etree._Element) -> None:
        if element.attrib:
            name = element.get("id") or (element.get("name") if local_name(element) == "a" else None)
            if name:
                self.document.anchors.setdefault(name, len(self.document.blocks))

    def break_line(self, frame: Frame) -> None:
        self.num_breaks += 1
        if frame.in_row:
            self.text.part()
            return
        if frame.kind is Kind.HEADING or (not frame.verse and self.num_breaks == 1):
            self.text.part_lines()
            return
        self.flush()
        if self.num_breaks > 1:  # an empty line: a paragraph or stanza ends, though nobody wrote <p>
            self.stanza = ""

    def leave_out(self, element: etree._Element, frame: Frame, reason: str) -> None:
        for inner in element.iterdescendants("*"):
            self.note_anchors(inner)
        text, num_chars = visible_text(element)
        if frame.leaves:
            self.left.add_to_run(text)
        elif text:
            self.text.has_hole = self.text.has_hole or self.text.first is not None
            end = frame.start + num_chars
            is_mark = reason == "note mark"
            brackets = self.text.last_char(frame.start) + self._char_after(element) if is_mark else ""
            if brackets in ("[]", "()"):
                self.text.cut_last_char(end + 1)
                self._skipped = 1
                self.left.add(brackets[0] + text + brackets[1], reason, frame.start - 1, end + 1)
            else:
                self.left.insert(LeftOut(text, reason, Span(self.document.file, frame.path, 0, num_chars)), frame.start)
        self.position += num_chars

    def _char_after(self, element: etree._Element) -> str:
        """What touches the element entered last, also where inline elements end with it."""
        around = iter(self.frames[-2::-1])
        parent = next(around, None)
        while not element.tail and element.getnext() is None and parent is not None:
            above = element.getparent()
            if above is None or parent.is_block or parent.is_line:
                return ""
            element, parent = above, next(around, None)
        return (element.tail or "")[:1] if parent is not None and not parent.leaves else ""

    def _leave_ornament_out(self, text: str, span: Span) -> None:
        """One left-out, or one a piece where a note's mark parts them."""
        if not self.text.has_hole:
            self.left.insert(LeftOut(text, SCENE_BREAK, span), self.text.first or 0)
            return
        for piece, start in self.text.texts:
            self.left.add(clean(piece), SCENE_BREAK, start, start + len(piece))

    def add(self, raw: str | None) -> None:
        if not raw:
            return
        frame = self.frames[-1]
        if frame.leaves:
            self.left.add_to_run(raw)
            self.position += len(raw)
            return
        if self._skipped:
            raw, self.position, self._skipped = raw[1:], self.position + 1, 0
        if self.label and self.text.first is None and raw.strip(BLANK):
            raw = self._leave_label_out(raw)
        if visible := raw.strip(BLANK):
            if self.text.ends_ornament and not is_ornament(clean(raw)):
                self.flush()  # a change of scene on a line of its own, within a paragraph
            self._announce_note(frame)
            self._num_linked += len(visible) if frame.in_link else 0
            self.document.opening = self.document.opening or visible[:100]
            self.document.closing = raw.rstrip()[-20:]
            self.num_breaks = 0
        self.text.add(raw, self.position)
        self.position += len(raw)

    def put_in(self, words: str) -> None:
        self._announce_note(self.frames[-1])
        self.num_breaks = 0
        self.text.put_in(words, self.position)

    def _announce_note(self, frame: Frame) -> None:
        if self.text.first is None and frame.note and not self.document.notes[frame.note] and self._note_prefix:
            self.text.put_sign_in(self._note_prefix + " ")

    def _leave_label_out(self, raw: str) -> str:
        """What follows of a note's text once its own label ("3." or what is left of it) is left out."""
        label = self.label.strip("[]() .")
        end = r"[\])]" if label.isalpha() else r"(?!\w)"  # "a. A note", but not "a friend"
        found = re.match(_LABEL.format(label=re.escape(label), end=end), raw) or _AFTER_LABEL.match(raw)
        self.label = ""
        if not found or not found[0].strip(BLANK):
            return raw
        self.left.add(clean(found[0]), "note mark", self.position, self.position + len(found[0]))
        self.position += len(found[0])
        return raw[len(found[0]) :]

    def flush(self, carries: bool = False) -> None:
        """End the block at hand. It lies in the innermost open block element: each border flushes."""
        first = self.text.first
        if first is None:
            self.text.clear()
            return
        if carries:
            self.text.trim()
            return  # a drop cap goes with the block that begins
        self.carries = False
        if (ornament := self.text.cut_ornament()) is not None:
            self.flush()
            self.text, first = ornament, ornament.first or 0
        text, added = self.text.assemble()
        frame = self.blocks[-1]
        base, path = (frame.start, frame.path) if first >= frame.start else (0, "/*")
        span = Span(self.document.file, path, first - base, self.text.last - base)
        if is_ornament(text):
            if not added:
                self._leave_ornament_out(text, span)
                self.emit(Block(Kind.BREAK, "", span))
            else:
                self.emit(Block(frame.kind, text, span, added=added))
        elif text and (text != self._note_prefix or not frame.note):  # a note's label alone in its block
            self._emit_text(frame, text, span, added)
        self.text.clear()
        self._num_linked = 0

    def _emit_text(self, frame: Frame, text: str, span: Span, added: tuple[tuple[int, int], ...]) -> None:
        kind, level = frame.kind, frame.level
        if frame.note:
            self.emit(Block(Kind.PARAGRAPH if kind is Kind.HEADING else kind, text, span, added=added))
            return
        if frame.verse and kind is not Kind.HEADING:
            continues = self.stanza == frame.stanza
            self.emit(Block(Kind.VERSE, text, span, continues, added))
            self.stanza = frame.stanza
            return
        index = len(self.document.blocks)
        if kind is Kind.PARAGRAPH and not frame.in_row:
            styled = heading_level(text, frame.tag, frame.classes.split())
            if styled is None and self._awaits_title and looks_like_title(text):
                styled = 0
            self._awaits_title = styled is not None and is_bare_heading(text)
            if styled is not None:
                kind, level = Kind.HEADING, styled
                self.styled[index] = styled > 0
        else:
            self._awaits_title = False
        if kind is Kind.HEADING and level:
            self.document.levels[index] = level
        if self._num_linked:
            self.document.linked[index] = self._num_linked
        self.emit(Block(kind, text, span, added=added))

    def open_note(self, frame: Frame, key: str, label: str) -> None:
        """Enter a note that is to be read; its own label, "3.", isn't."""
        if frame.leaves:
            self.left.end_run(self.position)
        frame.leaves, frame.note, frame.kind, frame.verse, frame.numbering = "", key, Kind.PARAGRAPH, False, None
        self.text.number, self.stanza, self.label = "", "", label
        self.document.notes.setdefault(key, [])

    def emit_break(self, path: str, place: int = 0) -> None:
        """A change of scene that no text shows."""
        self.emit(Block(Kind.BREAK, "", Span(self.document.file, path, place, place)))

    def emit(self, block: Block) -> None:
        note = self.blocks[-1].note
        (self.document.notes[note] if note else self.document.blocks).append(block)
        self.num_emitted += 1
        self.stanza = ""
