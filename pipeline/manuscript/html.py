"""A tree of XHTML or HTML to blocks: every visible word once, in order, each with its span."""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.block_text import BlockText
from pipeline.manuscript.book import Block, Kind, LeftOut, Span
from pipeline.manuscript.document import Document, Matter
from pipeline.manuscript.frames import Frame
from pipeline.manuscript.headings import demote_lists, heading_level, is_bare_heading, looks_like_title
from pipeline.manuscript.leaving import LeftOuts
from pipeline.manuscript.left_out import BLOCKS, SCENE_BREAK, is_raised, reason_to_leave_out, visible_text
from pipeline.manuscript.lists import Numbering
from pipeline.manuscript.markup import OPS, language_of, local_name, types_of
from pipeline.manuscript.matter import MATTER_BY_TYPE
from pipeline.manuscript.notes import Notes, find_notes
from pipeline.manuscript.pictures import initial_of, is_initial, stands_alone
from pipeline.manuscript.proof import source_of_tree
from pipeline.manuscript.prose import BLANK, clean, is_ornament
from pipeline.manuscript.raised import Raised, read_lowered, read_raised
from pipeline.manuscript.spacing import find_spacers, is_ornament_picture, shows_ornament
from pipeline.manuscript.stylesheet import Look, Styles, Wardrobe
from pipeline.manuscript.tables import is_data_table

_BLOCK_DISPLAYS = frozenset(["block", "list-item", "table", "flex", "grid", "flow-root", "table-row", "table-cell"])
_INLINE = frozenset(["span", "a", "b", "strong", "i", "em", "cite", "small"])  # not br and img, which are often blocks
_FLAT_FORMULA = frozenset(["math", "mrow", "mstyle", "semantics", "mi", "mn", "mo", "mtext", "annotation", ""])
_FORMULA_TOKENS = frozenset(["mi", "mn", "mo", "mtext"])
_LABEL = r"\s*[\[(]?{label}(?:[\])]?[.:)\]]|{end})\s*"
_AFTER_LABEL = re.compile(r"[\s.:)\]]+")
_UNSEEN = frozenset(["hidden", "collapse"])
_SECTIONS = frozenset(["body", "section", "article"])
_NOTE_PREFIXES = {
    "": "Note.",
    "en": "Note.",
    "de": "Anmerkung.",
    "fr": "Note.",
    "nl": "Noot.",
    **dict.fromkeys(("it", "es", "pt", "ca", "gl"), "Nota."),
}
"""What is heard before a note, by language; nothing in others."""


def read_tree(
    root: etree._Element,
    file: str,
    notes: Notes | None = None,
    styles: Styles | None = None,
    reads_notes: bool = False,
    reason: str = "",
    language: str = "",
) -> Document:
    """Read a whole tree. Linear in its size.

    Notes are left out, or collected in `Document.notes` where `reads_notes` says so. `notes` and `styles` are those
    of a book of several files; otherwise the tree's own. With a `reason`, all but the notes is left out. `language` is
    the book's BCP 47 tag, where it has one.
    """
    if notes is None:
        notes = find_notes({file: root}, lambda base, href: (base, href[1:]) if href.startswith("#") else None)
    styles = styles or Wardrobe().styles_of(root, file)
    document = _Reader(file, notes, styles, reads_notes, language or language_of(root)).read(root, reason)
    document.source = source_of_tree(root)
    return document


class _Reader:
    def __init__(self, file: str, notes: Notes, styles: Styles, reads_notes: bool, language: str) -> None:
        self.document = Document(file)
        self._language = language.lower().partition("-")[0]
        self._note_prefix = _NOTE_PREFIXES.get(self._language, "")
        self._notes = notes
        self._styles = styles
        self._reads_notes = reads_notes
        self._around_notes: set[etree._Element] = set()
        self._spacers: set[etree._Element] = set()
        self._frames: list[Frame] = []
        self._blocks: list[Frame] = []
        self._position = 0
        self._text = BlockText()
        self._num_breaks = 0
        self._num_emitted = 0
        self._num_linked = 0
        self._num_unread = 0  # formulas
        self._stanza = ""  # of the verse line emitted last, while nothing else came after it
        self._skipped = 0  # characters of the text to come that are left out already
        self._label = ""  # of a note's mark, which its text may begin with
        self._carries = False  # a drop cap in a block of its own waits for its word
        self._awaits_title = False
        self._styled: dict[int, bool] = {}  # headings that are none by tag, and whether a number heads them
        self._pictures: list[etree._Element] = []
        self._left = LeftOuts(file)
        self._reason_for_all = ""

    def read(self, root: etree._Element, reason: str) -> Document:
        self._spacers = find_spacers(root)
        if self._reads_notes:
            read = [body for body, key in self._notes.bodies.items() if key in self._notes.texts]
            self._around_notes = {element for body in read for element in (body, *body.iterancestors())}
        self._left.begin_run(reason, 0)
        self._reason_for_all = reason
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if self._open(element):
                    self._add(element.text)
                else:
                    walk.skip_subtree()
            else:
                if event == "end":
                    self._close(element)
                if element is not root and self._frames:
                    self._add(element.tail)
        if self._num_unread:
            self.document.faults.append(
                f"{self.document.file} has {self._num_unread} formulas without words to read them by (alttext), "
                "which are left out."
            )
        if self._styles.num_tests_left <= 0:
            self.document.faults.append(
                f"{self.document.file} has style sheets too large to be followed; what they hide may be read."
            )
        self.document.left_out = self._left.all
        demote_lists(self.document, self._styled)
        return self.document

    # Elements

    def _open(self, element: etree._Element) -> bool:
        """Enter an element; False when it is left out, or has nothing in it to be walked."""
        tag = local_name(element)
        is_root = not self._frames
        parent = self._frames[-1] if self._frames else Frame("", 0, Kind.PARAGRAPH, leaves=self._reason_for_all)
        parent.num_children += 1
        frame = parent.inside(f"{parent.path}/*[{parent.num_children}]" if parent.path else "/*", self._position)
        types = types_of(element) if element.attrib else frozenset()
        look = self._styles.look(element, tag)
        key = self._note_key(element)
        is_floating = is_initial(element) and not is_root
        is_own = (
            tag in BLOCKS or (tag in _INLINE and look.display in _BLOCK_DISPLAYS) or (bool(key) and not parent.in_row)
        )
        frame.is_initial = is_floating
        frame.is_block = is_root or (is_own and not parent.in_row and not is_floating)
        frame.tag, frame.num_emitted, frame.num_pictures = tag, self._num_emitted, len(self._pictures)
        if frame.is_block:
            self._flush(carries=is_own and self._carries)
        self._carries = self._carries or (is_floating and tag in BLOCKS)
        if not frame.note:
            self._note_anchors(element)
        self._frames.append(frame)
        if frame.is_block:
            self._blocks.append(frame)
        if key != frame.note and key:
            self._open_note(frame, key)
        elif reason := self._reason(element, tag, types, look):
            frame.is_unseen = look.visibility in _UNSEEN and not look.is_hidden and self._shows_within(element)
            if element not in self._around_notes and not frame.is_unseen:
                self._leave_out(element, frame, reason)
                return False
            if not frame.leaves:
                self._left.begin_run(reason, self._position)
                self._text.has_hole = self._text.has_hole or self._text.first is not None
                frame.leaves = reason
        elif frame.is_unseen and frame.leaves and look.visibility == "visible":
            self._left.end_run(self._position)
            frame.leaves, frame.is_unseen = "", False
        if frame.leaves:
            return True
        self._set_up(frame, parent, element, types, look)
        return self._meet(element, tag, frame, look)

    def _set_up(self, frame: Frame, parent: Frame, element: etree._Element, types: frozenset[str], look: Look) -> None:
        frame.list_style = look.list_style or frame.list_style
        if frame.tag in ("ol", "ul", "menu", "dl"):
            frame.list_style = look.list_style
            frame.numbering = Numbering.of(element, look.list_style) if frame.tag == "ol" else None
        elif frame.tag == "li" and frame.numbering:
            number = frame.numbering.take(element, look.list_style)
            is_counted = look.display in ("", "list-item") and not (frame.note and parent.note != frame.note)
            self._text.number += f"{number}. " if number and is_counted else ""
        if frame.is_block:
            frame.classes = (element.get("class") or "").lower() if element.attrib else ""
            if not frame.note or parent.note == frame.note:
                frame.set_kind(element, types)
            frame.set_verse(parent, element, types)
            kind = next((MATTER_BY_TYPE[word] for word in sorted(types) if word in MATTER_BY_TYPE), "")
            if kind and not frame.note:
                first = len(self.document.blocks)
                self.document.matter.append(Matter(kind, first, first, frame.matter))
                frame.matter = len(self.document.matter) - 1
        elif frame.tag == "span" and parent.is_block and parent.verse:
            frame.is_line = parent.has_line_spans
            if frame.is_line:
                self._flush()

    def _close(self, element: etree._Element) -> None:
        frame = self._frames.pop()
        parent = self._frames[-1] if self._frames else Frame("", 0, Kind.PARAGRAPH)
        if frame.leaves and not parent.leaves:
            self._left.end_run(self._position)
        elif parent.leaves and not frame.leaves:
            self._left.resume_run(self._position)
        if frame.is_initial and not stands_alone(self._text.at_end(), self._language):
            self._text.expect_rest()
        if frame.is_block or frame.is_line:
            if frame.tag == "tr":
                self._text.end_row()
            self._flush()
        if frame.is_block:
            self._blocks.pop()
            if self._num_emitted == frame.num_emitted and not frame.leaves:
                self._close_empty(element, frame)
        if frame.tag == "li":
            self._text.number = ""
        if frame.note and frame.note != parent.note:
            self._stanza, self._label = "", ""
        if frame.matter != parent.matter:
            self.document.matter[frame.matter].end = len(self.document.blocks)

    def _close_empty(self, element: etree._Element, frame: Frame) -> None:
        """A block without text may be a change of scene."""
        is_break = element in self._spacers or (
            frame.tag in ("p", "div", "figure", "center")
            and is_ornament_picture(frame.classes, self._pictures[frame.num_pictures :])
        )
        if is_break:
            length = self._position - frame.start
            self._emit(Block(Kind.BREAK, "", Span(self.document.file, frame.path, length, length)))

    def _meet(self, element: etree._Element, tag: str, frame: Frame, look: Look) -> bool:
        """What an element does besides holding text; False when it is left out after all."""
        if tag == "br":
            self._break_line(frame)
        elif tag == "hr":
            self._emit(Block(Kind.BREAK, "", Span(self.document.file, frame.path, 0, 0)))
        elif tag in ("img", "image", "svg"):
            self._meet_picture(element, tag)
        elif tag == "math":
            return self._meet_formula(element, frame)
        elif tag in _FORMULA_TOKENS or (tag == "tspan" and any(name in element.attrib for name in ("x", "y", "dy"))):
            self._text.part()
        elif tag == "a" and not re.match(r"[a-z]+:", element.get("href") or "x:"):
            frame.in_link = True
        elif tag == "table":
            frame.is_data = is_data_table(element)
        elif tag == "tr":
            frame.in_row = frame.is_data
        elif tag in ("td", "th") and frame.in_row:
            self._text.begin_cell()
        elif (tag == "sub" or is_raised(element)) and not frame.in_raised:
            frame.in_raised = True
            return self._meet_raised(element, tag, frame)
        return True

    def _meet_picture(self, element: etree._Element, tag: str) -> None:
        self.document.has_pictures = True
        self._pictures.append(element)
        if tag == "img" and self._text.first is None and (letter := initial_of(element)):
            self._put_in(letter)
        elif self._text.first is None and self._blocks[-1].tag in _SECTIONS and shows_ornament(element):
            # In a paragraph of its own, it is judged when that ends.
            self._emit(Block(Kind.BREAK, "", Span(self.document.file, self._frames[-1].path, 0, 0)))

    def _meet_formula(self, element: etree._Element, frame: Frame) -> bool:
        words = clean(element.get("alttext") or "")
        if not words and all(local_name(inner) in _FLAT_FORMULA for inner in element.iter()):
            return True  # "x = 2" reads itself
        reason = "formula, read by its alttext" if words else "formula without words to read it by"
        if words:
            self._put_in(words)
        else:
            self._num_unread += 1
        self._leave_out(element, frame, reason)
        return False

    def _meet_raised(self, element: etree._Element, tag: str, frame: Frame) -> bool:
        before = self._text.at_end()
        text = visible_text(element)[0]
        links = [link for link in element.iter("{*}a") if link in self._notes.marks]
        if links:
            rest = re.sub("|".join(re.escape(visible_text(link)[0]) for link in links) or "$", "", text)
            if not any(char.isalnum() for char in rest):
                for link in links:
                    self._note_mark(self._notes.marks[link])
                self._leave_out(element, frame, "note mark")
                return False
            return True
        how = read_lowered(before, text) if tag == "sub" else read_raised(before, text, element.tail or "")
        if how is Raised.MARK:
            self._leave_out(element, frame, "note mark")
            return False
        if how is Raised.POWER:
            self._text.put_sign_in("^")
        elif how in (Raised.FRACTION, Raised.APART):
            self._text.part()
        return True

    def _break_line(self, frame: Frame) -> None:
        self._num_breaks += 1
        is_joined = frame.in_row or frame.kind is Kind.HEADING or (not frame.verse and self._num_breaks == 1)
        if is_joined and (frame.in_row or not self._text.holds_ornament()):
            self._text.part_lines()
            return
        self._flush()
        if self._num_breaks > 1:  # an empty line: a paragraph or stanza ends, though nobody wrote <p>
            self._stanza = ""

    def _note_anchors(self, element: etree._Element) -> None:
        if element.attrib:
            name = element.get("id") or (element.get("name") if local_name(element) == "a" else None)
            if name:
                self.document.anchors.setdefault(name, len(self.document.blocks))

    # What is left out

    def _reason(self, element: etree._Element, tag: str, types: frozenset[str], look: Look) -> str:
        if not self._frames[-1].leaves and (element in self._notes.marks or element in self._notes.labels):
            if element in self._notes.marks:
                self._note_mark(self._notes.marks[element])
            return "note mark"
        if tag == "case" and isinstance(element.tag, str) and OPS in element.tag:
            return "alternative for other readers"  # of an epub:switch, whose default is read
        if reason := reason_to_leave_out(element, tag, types):
            return reason
        if look.is_hidden or look.visibility in _UNSEEN:
            return "hidden text"
        if element in self._notes.containers:
            return "note"
        if element in self._notes.bodies and not self._note_key(element):
            return "note"
        return ""

    def _shows_within(self, element: etree._Element) -> bool:
        """Whether something in an element that isn't seen is visible all the same."""
        return any(
            self._styles.look(inner, local_name(inner)).visibility == "visible"
            for inner in element.iterdescendants("*")
        )

    def _note_mark(self, key: str) -> None:
        if key and self._reads_notes and not self._frames[-1].note:
            self.document.marks.setdefault(len(self.document.blocks), []).append(key)

    def _leave_out(self, element: etree._Element, frame: Frame, reason: str) -> None:
        for inner in element.iterdescendants("*"):
            self._note_anchors(inner)
        text, num_chars = visible_text(element)
        if frame.leaves:
            self._left.add_to_run(text)
        elif text:
            self._text.has_hole = self._text.has_hole or self._text.first is not None
            end = frame.start + num_chars
            brackets = self._text.at_end()[-1:] + (element.tail or "")[:1]
            if reason == "note mark" and brackets in ("[]", "()"):
                self._text.cut_last_char(end + 1)
                self._skipped = 1
                self._left.add(brackets[0] + text + brackets[1], reason, frame.start - 1, end + 1)
            else:
                self._left.insert(
                    LeftOut(text, reason, Span(self.document.file, frame.path, 0, num_chars)), frame.start
                )
        self._position += num_chars

    def _leave_ornament_out(self, text: str, span: Span) -> None:
        """One left-out, or one a piece where a note's mark parts them."""
        if not self._text.has_hole:
            self._left.insert(LeftOut(text, SCENE_BREAK, span), self._text.first or 0)
            return
        for piece, start in self._text.texts:
            self._left.add(clean(piece), SCENE_BREAK, start, start + len(piece))

    def _note_key(self, element: etree._Element) -> str:
        """The key of the note an element is, where it is to be read."""
        key = self._notes.bodies.get(element, "") if self._reads_notes else ""
        return key if key in self._notes.texts else ""

    def _open_note(self, frame: Frame, key: str) -> None:
        if frame.leaves:
            self._left.end_run(self._position)
        frame.leaves, frame.note, frame.kind, frame.verse, frame.numbering = "", key, Kind.PARAGRAPH, False, None
        self._text.number, self._stanza, self._label = "", "", self._notes.texts[key]
        self.document.notes.setdefault(key, [])

    # Text

    def _add(self, raw: str | None) -> None:
        if not raw:
            return
        frame = self._frames[-1]
        if frame.leaves:
            self._left.add_to_run(raw)
            self._position += len(raw)
            return
        if self._skipped:
            raw, self._position, self._skipped = raw[1:], self._position + 1, 0
        if self._label and self._text.first is None and raw.strip(BLANK):
            raw = self._leave_label_out(raw)
        if visible := raw.strip(BLANK):
            self._announce_note(frame)
            self._num_linked += len(visible) if frame.in_link else 0
            self.document.opening = self.document.opening or visible[:100]
            self.document.closing = raw.rstrip()[-20:]
            self._num_breaks = 0
        self._text.add(raw, self._position)
        self._position += len(raw)

    def _put_in(self, words: str) -> None:
        self._announce_note(self._frames[-1])
        self._num_breaks = 0
        self._text.put_in(words, self._position)

    def _announce_note(self, frame: Frame) -> None:
        if self._text.first is None and frame.note and not self.document.notes[frame.note] and self._note_prefix:
            self._text.put_sign_in(self._note_prefix + " ")

    def _leave_label_out(self, raw: str) -> str:
        """What follows of a note's text once its own label ("3." or what is left of it) is left out."""
        label = self._label.strip("[]() .")
        end = r"[\])]" if label.isalpha() else r"(?!\w)"  # "a. A note", but not "a friend"
        found = re.match(_LABEL.format(label=re.escape(label), end=end), raw) or _AFTER_LABEL.match(raw)
        self._label = ""
        if not found or not found[0].strip(BLANK):
            return raw
        self._left.add(clean(found[0]), "note mark", self._position, self._position + len(found[0]))
        self._position += len(found[0])
        return raw[len(found[0]) :]

    def _flush(self, carries: bool = False) -> None:
        """End the block at hand. It lies in the innermost open block element: each border flushes."""
        first = self._text.first
        if first is None:
            self._text.clear()
            return
        if carries:
            self._text.trim()
            return  # a drop cap goes with the block that begins
        self._carries = False
        if (ornament := self._text.cut_ornament()) is not None:
            self._flush()
            self._text, first = ornament, ornament.first or 0
        text, added = self._text.assemble()
        frame = self._blocks[-1]
        base, path = (frame.start, frame.path) if first >= frame.start else (0, "/*")
        span = Span(self.document.file, path, first - base, self._text.last - base)
        if is_ornament(text):
            if not added:
                self._leave_ornament_out(text, span)
                self._emit(Block(Kind.BREAK, "", span))
            else:
                self._emit(Block(frame.kind, text, span, added=added))
        elif text and (text != self._note_prefix or not frame.note):  # a note's label alone in its block
            self._emit_text(frame, text, span, added)
        self._text.clear()
        self._num_linked = 0

    def _emit_text(self, frame: Frame, text: str, span: Span, added: tuple[tuple[int, int], ...]) -> None:
        kind, level = frame.kind, frame.level
        if frame.note:
            self._emit(Block(Kind.PARAGRAPH if kind is Kind.HEADING else kind, text, span, added=added))
            return
        if frame.verse and kind is not Kind.HEADING:
            continues = self._stanza == frame.stanza
            self._emit(Block(Kind.VERSE, text, span, continues, added))
            self._stanza = frame.stanza
            return
        index = len(self.document.blocks)
        if kind is Kind.PARAGRAPH and not frame.in_row:
            styled = heading_level(text, frame.tag, frame.classes.split())
            if styled is None and self._awaits_title and looks_like_title(text):
                styled = 0
            self._awaits_title = styled is not None and is_bare_heading(text)
            if styled is not None:
                kind, level = Kind.HEADING, styled
                self._styled[index] = styled > 0
        else:
            self._awaits_title = False
        if kind is Kind.HEADING and level:
            self.document.levels[index] = level
        if self._num_linked:
            self.document.linked[index] = self._num_linked
        self._emit(Block(kind, text, span, added=added))

    def _emit(self, block: Block) -> None:
        note = self._blocks[-1].note
        (self.document.notes[note] if note else self.document.blocks).append(block)
        self._num_emitted += 1
        self._stanza = ""
