"""A tree of XHTML or HTML to blocks: every visible word once, in order, each with its span."""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.block_writer import BlockWriter
from pipeline.manuscript.book import Kind
from pipeline.manuscript.document import Document, Matter
from pipeline.manuscript.formulas import FORMULA_TOKENS, is_flat_formula
from pipeline.manuscript.frames import Frame
from pipeline.manuscript.headings import demote_lists
from pipeline.manuscript.left_out import BLOCKS, is_raised, reason_to_leave_out, visible_text
from pipeline.manuscript.lists import Numbering
from pipeline.manuscript.markup import language_of, local_name, types_of
from pipeline.manuscript.matter import MATTER_BY_TYPE
from pipeline.manuscript.notes import Notes, find_notes
from pipeline.manuscript.pictures import initial_of, is_initial, stands_alone
from pipeline.manuscript.proof import source_of_tree
from pipeline.manuscript.prose import clean
from pipeline.manuscript.raised import Raised, read_lowered, read_raised
from pipeline.manuscript.spacing import find_spacers, is_ornament_picture, shows_ornament
from pipeline.manuscript.stylesheet import Look, Styles, Wardrobe
from pipeline.manuscript.tables import is_data_table

_BLOCK_DISPLAYS = frozenset(["block", "list-item", "table", "flex", "grid", "flow-root", "table-row", "table-cell"])
_INLINE = frozenset(["span", "a", "b", "strong", "i", "em", "cite", "small"])  # not br and img, which are often blocks
_UNSEEN = frozenset(["hidden", "collapse"])
_SECTIONS = frozenset(["body", "section", "article"])


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
        self._language = language.lower().partition("-")[0]
        self._out = BlockWriter(file, self._language)
        self._notes = notes
        self._styles = styles
        self._reads_notes = reads_notes
        self._around_notes: set[etree._Element] = set()
        self._spacers: set[etree._Element] = set()
        self._num_unread = 0  # formulas
        self._pictures: list[etree._Element] = []
        self._reason_for_all = ""

    def read(self, root: etree._Element, reason: str) -> Document:
        self._spacers = find_spacers(root)
        if self._reads_notes:
            read = [body for body, key in self._notes.bodies.items() if key in self._notes.texts]
            self._around_notes = {element for body in read for element in (body, *body.iterancestors())}
        self._out.left.begin_run(reason, 0)
        self._reason_for_all = reason
        walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
        for event, element in walk:
            if event == "start":
                if self._open(element):
                    self._out.add(element.text)
                else:
                    walk.skip_subtree()
            else:
                if event == "end":
                    self._close(element)
                if element is not root and self._out.frames:
                    self._out.add(element.tail)
        if self._num_unread:
            self._out.document.faults.append(
                f"{self._out.document.file} has {self._num_unread} formulas without words to read them by (alttext), "
                "which are left out."
            )
        if self._styles.num_tests_left <= 0:
            self._out.document.faults.append(
                f"{self._out.document.file} has style sheets too large to be followed; what they hide may be read."
            )
        self._out.document.left_out = self._out.left.all
        demote_lists(self._out.document, self._out.styled)
        return self._out.document

    # Elements

    def _open(self, element: etree._Element) -> bool:
        """Enter an element; False when it is left out, or has nothing in it to be walked."""
        tag = local_name(element)
        is_root = not self._out.frames
        parent = self._out.frames[-1] if self._out.frames else Frame("", 0, Kind.PARAGRAPH, leaves=self._reason_for_all)
        parent.num_children += 1
        frame = parent.inside(f"{parent.path}/*[{parent.num_children}]" if parent.path else "/*", self._out.position)
        types = types_of(element) if element.attrib else frozenset()
        look = self._styles.look(element, tag)
        key = self._note_key(element)
        is_floating = is_initial(element, look.floats) and not is_root
        is_own = (
            tag in BLOCKS or (tag in _INLINE and look.display in _BLOCK_DISPLAYS) or (bool(key) and not parent.in_row)
        )
        frame.is_initial = is_floating
        frame.is_block = is_root or (is_own and not parent.in_row and not is_floating)
        frame.tag, frame.num_emitted, frame.num_pictures = tag, self._out.num_emitted, len(self._pictures)
        if frame.is_block:
            self._out.flush(carries=is_own and self._out.carries)
        self._out.carries = self._out.carries or (is_floating and tag in BLOCKS)
        if not frame.note:
            self._out.note_anchors(element)
        self._out.frames.append(frame)
        if frame.is_block:
            self._out.blocks.append(frame)
        if key != frame.note and key:
            self._out.open_note(frame, key, self._notes.texts[key])
        elif reason := self._reason(element, tag, types, look):
            frame.is_unseen = look.visibility in _UNSEEN and not look.is_hidden and self._styles.show_within(element)
            if element not in self._around_notes and not frame.is_unseen:
                self._out.leave_out(element, frame, reason)
                return False
            if not frame.leaves:
                self._out.left.begin_run(reason, self._out.position)
                self._out.text.has_hole = self._out.text.has_hole or self._out.text.first is not None
                frame.leaves = reason
        elif frame.is_unseen and frame.leaves and look.visibility == "visible":
            self._out.left.end_run(self._out.position)
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
            self._out.text.number += f"{number}. " if number and is_counted else ""
        if frame.is_block:
            frame.classes = (element.get("class") or "").lower() if element.attrib else ""
            if not frame.note or parent.note == frame.note:
                frame.set_kind(element, types)
            frame.set_verse(parent, element, types)
            kind = next((MATTER_BY_TYPE[word] for word in sorted(types) if word in MATTER_BY_TYPE), "")
            if kind and not frame.note:
                first = len(self._out.document.blocks)
                self._out.document.matter.append(Matter(kind, first, first, frame.matter))
                frame.matter = len(self._out.document.matter) - 1
        elif frame.tag == "span" and parent.is_block and parent.verse:
            frame.is_line = parent.has_line_spans
            if frame.is_line:
                self._out.flush()

    def _close(self, element: etree._Element) -> None:
        frame = self._out.frames.pop()
        parent = self._out.frames[-1] if self._out.frames else Frame("", 0, Kind.PARAGRAPH)
        if frame.leaves and not parent.leaves:
            self._out.left.end_run(self._out.position)
        elif parent.leaves and not frame.leaves:
            self._out.left.resume_run(self._out.position)
        if frame.is_initial and not stands_alone(self._out.text.at_end(), self._language):
            self._out.text.expect_rest()
        if frame.is_block or frame.is_line:
            if frame.tag == "tr":
                self._out.text.end_row()
            self._out.flush()
        if frame.is_block:
            self._out.blocks.pop()
            if self._out.num_emitted == frame.num_emitted and not frame.leaves:
                self._close_empty(element, frame)
        if frame.tag == "li":
            self._out.text.number = ""
        if frame.note and frame.note != parent.note:
            self._out.stanza, self._out.label = "", ""
        if frame.matter != parent.matter:
            self._out.document.matter[frame.matter].end = len(self._out.document.blocks)

    def _close_empty(self, element: etree._Element, frame: Frame) -> None:
        """A block without text may be a change of scene."""
        is_break = element in self._spacers or (
            frame.tag in ("p", "div", "figure", "center")
            and is_ornament_picture(frame.classes, self._pictures[frame.num_pictures :])
        )
        if is_break:
            length = self._out.position - frame.start
            self._out.emit_break(frame.path, length)

    def _meet(self, element: etree._Element, tag: str, frame: Frame, look: Look) -> bool:
        """What an element does besides holding text; False when it is left out after all."""
        if tag == "br":
            self._out.break_line(frame)
        elif tag == "hr":
            self._out.emit_break(frame.path)
        elif tag in ("img", "image", "svg"):
            self._meet_picture(element, tag)
        elif tag == "math":
            return self._meet_formula(element, frame)
        elif tag in FORMULA_TOKENS or (tag == "tspan" and any(name in element.attrib for name in ("x", "y", "dy"))):
            self._out.text.part()
        elif tag == "a" and not re.match(r"[a-z]+:", element.get("href") or "x:"):
            frame.in_link = True
        elif tag == "table":
            frame.is_data = is_data_table(element)
        elif tag == "tr":
            frame.in_row = frame.is_data
        elif tag in ("td", "th") and frame.in_row:
            self._out.text.begin_cell()
        elif (tag == "sub" or is_raised(element)) and not frame.in_raised:
            frame.in_raised = True
            return self._meet_raised(element, tag, frame)
        return True

    def _meet_picture(self, element: etree._Element, tag: str) -> None:
        self._out.document.has_pictures = True
        self._pictures.append(element)
        if tag == "img" and self._out.text.first is None and (letter := initial_of(element)):
            self._out.put_in(letter)
        elif self._out.text.first is None and self._out.blocks[-1].tag in _SECTIONS and shows_ornament(element):
            # In a paragraph of its own, it is judged when that ends.
            self._out.emit_break(self._out.frames[-1].path)

    def _meet_formula(self, element: etree._Element, frame: Frame) -> bool:
        words = clean(element.get("alttext") or "")
        if not words and is_flat_formula(element):
            return True  # "x = 2" reads itself
        reason = "formula, read by its alttext" if words else "formula without words to read it by"
        if words:
            self._out.put_in(words)
        else:
            self._num_unread += 1
        self._out.leave_out(element, frame, reason)
        return False

    def _meet_raised(self, element: etree._Element, tag: str, frame: Frame) -> bool:
        before = self._out.text.at_end()
        text = visible_text(element)[0]
        links = [link for link in element.iter("{*}a") if link in self._notes.marks]
        if links:
            rest = re.sub("|".join(re.escape(visible_text(link)[0]) for link in links) or "$", "", text)
            if not any(char.isalnum() for char in rest):
                for link in links:
                    self._note_mark(self._notes.marks[link])
                self._out.leave_out(element, frame, "note mark")
                return False
            return True
        how = read_lowered(before, text) if tag == "sub" else read_raised(before, text, element.tail or "")
        if how is Raised.MARK:
            self._out.leave_out(element, frame, "note mark")
            return False
        if how is Raised.POWER:
            self._out.text.put_sign_in("^")
        elif how in (Raised.FRACTION, Raised.APART):
            self._out.text.part()
        return True

    # What is left out

    def _reason(self, element: etree._Element, tag: str, types: frozenset[str], look: Look) -> str:
        if not self._out.frames[-1].leaves and (element in self._notes.marks or element in self._notes.labels):
            if element in self._notes.marks:
                self._note_mark(self._notes.marks[element])
            return "note mark"
        if reason := reason_to_leave_out(element, tag, types):
            return reason
        if look.is_hidden or look.visibility in _UNSEEN:
            return "hidden text"
        if element in self._notes.containers:
            return "note"
        if element in self._notes.bodies and not self._note_key(element):
            return "note"
        return ""

    def _note_mark(self, key: str) -> None:
        if key and self._reads_notes and not self._out.frames[-1].note:
            self._out.document.marks.setdefault(len(self._out.document.blocks), []).append(key)

    def _note_key(self, element: etree._Element) -> str:
        """The key of the note an element is, where it is to be read."""
        key = self._notes.bodies.get(element, "") if self._reads_notes else ""
        return key if key in self._notes.texts else ""
