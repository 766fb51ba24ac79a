"""The parts of a Word document to one tree of HTML, which `html` reads as it reads any other.

The text of the body, of notes, headers, footers, comments and diagrams is in the tree; what of it isn't read aloud says
so by the attribute `LEFT_OUT`. The words of charts and of embedded files are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from lxml import etree

from pipeline.manuscript.docx_shapes import (
    GREEK,
    choose_alternative,
    find_text_boxes,
    has_text,
    mark_scenes,
    read_formula,
)
from pipeline.manuscript.docx_styles import Numbering, Style, StyleSheet, attribute, child, is_on, outline_level, value
from pipeline.manuscript.left_out import LEFT_OUT
from pipeline.manuscript.markup import local_name
from pipeline.manuscript.prose import clean

_CONTENTS = re.compile(r"toc \d|toc heading|table of figures")
_QUOTE = re.compile(r"(?:intense )?quote|block text|quotations?")
_TRANSPARENT = frozenset(
    ["sdt", "sdtcontent", "customxml", "smarttag", "ins", "moveto", "hyperlink", "fldsimple", "dir", "bdo", "rubybase"]
)


class BodyBuilder:
    """Builds `<html><body>` of the main part, then the notes, then what is never read."""

    def __init__(self, styles: StyleSheet, numbering: Numbering) -> None:
        self.root = etree.Element("html")
        self._body = etree.SubElement(self.root, "body")
        self._styles = styles
        self._numbering = numbering
        self._marks: dict[str, str] = {}  # id of a note to its number
        self._joins: etree._Element | None = None  # a paragraph that the next one goes on in
        self._boxes: list[etree._Element] = []
        self._title: list[str] = []
        self._last_with_symbol: etree._Element | None = None
        self._shows_text = False

    @property
    def titles(self) -> list[str]:
        """The paragraphs of the style Title."""
        return self._title

    @property
    def language(self) -> str:
        return self._styles.language

    def add_main(self, part: etree._Element) -> None:
        self._add_blocks(child(part, "body"), self._body)
        self._joins = None
        mark_scenes(self._body)

    def add_notes(self, part: etree._Element, kind: str) -> None:
        """Footnotes or endnotes, each an element that the mark in the text points at."""
        for note in part:
            key = f"{kind}-{attribute(note, 'id')}"
            if attribute(note, "type") in ("separator", "continuationSeparator", "continuationNotice"):
                continue
            aside = etree.SubElement(self._body, "aside", {"role": f"doc-{kind}", "id": key})
            self._add_blocks(note, aside)
            self._joins = None

    def add_unread(self, part: etree._Element, reason: str) -> None:
        """A header, a footer or comments: text beside the text."""
        for inner in part if reason == "comment" else [part]:
            box = etree.SubElement(self._body, "div", {LEFT_OUT: reason})
            self._add_blocks(inner, box)
            self._joins = None

    def add_diagram(self, part: etree._Element) -> None:
        """The words of a drawing that Word makes of a list (SmartArt)."""
        box = etree.SubElement(self._body, "div", {LEFT_OUT: "drawing"})
        for paragraph in part.iter("{*}p"):
            etree.SubElement(box, "p").text = "".join(text.text or "" for text in paragraph.iter("{*}t"))

    # Blocks

    def _add_blocks(self, part: etree._Element | None, target: etree._Element) -> None:
        for element in part if part is not None else ():
            name = local_name(element)
            if name == "p":
                self._add_paragraph(element, target)
            elif name == "tbl":
                self._add_table(element, target)
            elif name in _TRANSPARENT:
                self._add_blocks(element, target)
            elif name == "alternatecontent":
                self._add_blocks(choose_alternative(element), target)
            elif name in ("del", "movefrom"):
                self._add_blocks(element, etree.SubElement(target, "div", {LEFT_OUT: _deleted(name)}))
            elif name in ("omathpara", "omath"):
                _append_text(etree.SubElement(target, "p"), read_formula(element))

    def _add_table(self, table: etree._Element, target: etree._Element) -> None:
        shown = etree.SubElement(target, "table")
        for row in _inside(table, "tr"):
            line = etree.SubElement(shown, "tr")
            is_deleted = child(row, "trpr", "del") is not None
            if is_deleted:
                line.set(LEFT_OUT, "deleted text")
            for cell in _inside(row, "tc"):
                self._joins = None
                self._add_blocks(cell, etree.SubElement(line, "td"))
        self._joins = None

    def _add_paragraph(self, paragraph: etree._Element, target: etree._Element) -> None:
        properties = child(paragraph, "ppr")
        style_id = value(properties, "pstyle") or self._styles.default
        style = self._styles.get(style_id)
        outer_boxes, self._boxes = self._boxes, []
        goes_on = self._joins is not None and self._joins.getparent() is target
        shown = (
            self._joins if goes_on and self._joins is not None else self._new_block(properties, style_id, style, target)
        )
        self._add_runs(paragraph, shown, style)
        if style.name == "title" and (title := clean(str(shown.xpath("string()")))):
            self._title.append(title)
        is_joined = child(properties, "rpr", "del") is not None
        frame = child(properties, "framepr")
        is_initial = frame is not None and attribute(frame, "dropCap") in ("drop", "margin")
        self._joins = shown if is_joined or is_initial else None
        boxes, self._boxes = self._boxes, outer_boxes
        for box in boxes:
            self._add_blocks(box, etree.SubElement(target, "div", {"class": "textbox"}))

    def _new_block(
        self, properties: etree._Element | None, style_id: str, style: Style, target: etree._Element
    ) -> etree._Element:
        direct = outline_level(properties)
        level = style.level if direct is None else direct
        label = self._label(properties, style_id, style)
        if style.name == "title":
            return etree.SubElement(target, "h1")
        if _CONTENTS.fullmatch(style.name):
            return etree.SubElement(target, "p", {LEFT_OUT: "table of contents"})
        if level:
            heading = etree.SubElement(target, f"h{min(level + 1, 6)}")
            _append_text(heading, f"{label} " if label else "")
            return heading
        if label is not None:
            last = target[-1] if len(target) else None
            listing = last if last is not None and last.tag == "ul" else etree.SubElement(target, "ul")
            item = etree.SubElement(listing, "li")
            _append_text(item, f"{label} " if label else "")
            return item
        if _QUOTE.fullmatch(style.name):
            target = etree.SubElement(target, "blockquote")
        return etree.SubElement(target, "p", {"class": style.slug} if style.name not in ("", "normal") else {})

    def _label(self, properties: etree._Element | None, style_id: str, style: Style) -> str | None:
        """The label of a list's paragraph, empty for a bullet; None for what is in no list."""
        list_id = value(properties, "numpr", "numid") or style.numbering[0]
        if not self._numbering.is_list(list_id):  # 0 takes a paragraph out of its style's list
            return None
        direct = value(properties, "numpr", "ilvl")
        of_style = self._numbering.level_of_style(list_id, style_id)
        index = int(direct) if direct.isdecimal() else style.numbering[1] if of_style is None else of_style
        return self._numbering.count(list_id, index)

    # Runs

    def _add_runs(self, part: etree._Element, target: etree._Element, style: Style) -> None:
        for element in part:
            name = local_name(element)
            if name == "r":
                self._add_run(element, target, style)
            elif name in _TRANSPARENT:
                self._add_runs(element, target, style)
            elif name in ("del", "movefrom"):
                self._add_runs(element, etree.SubElement(target, "span", {LEFT_OUT: _deleted(name)}), style)
            elif name == "alternatecontent":
                self._add_runs(choose_alternative(element), target, style)
            elif name in ("omath", "omathpara"):
                _append_text(target, read_formula(element))

    def _add_run(self, run: etree._Element, target: etree._Element, style: Style) -> None:
        properties = child(run, "rpr")
        hidden = is_on(properties, "vanish")
        if hidden is None:
            own = value(properties, "rstyle")
            hidden = style.is_hidden or (bool(own) and self._styles.get(own).is_hidden)
        raised = {"superscript": "sup", "subscript": "sub"}.get(value(properties, "vertalign"), "")
        if hidden:
            target = etree.SubElement(target, "span", {LEFT_OUT: "hidden text"})
        elif raised and any(local_name(element) == "t" for element in run):
            target = etree.SubElement(target, raised)
        for element in run:
            self._add_run_part(element, target, style)

    def _add_run_part(self, element: etree._Element, target: etree._Element, style: Style) -> None:
        name = local_name(element)
        if name in ("t", "deltext"):
            _append_text(target, element.text or "")
        elif name in ("tab", "ptab"):
            _append_text(target, "\t")
        elif name in ("br", "cr"):
            if attribute(element, "type") in ("page", "column"):
                _append_text(target, " ")
            else:
                etree.SubElement(target, "br")
        elif name == "nobreakhyphen":
            _append_text(target, "-")
        elif name == "softhyphen":
            _append_text(target, "\u00ad")
        elif name == "sym":
            self._add_symbol(element, target)
        elif name in ("footnotereference", "endnotereference"):
            self._add_mark(name.removesuffix("reference"), element, target)
        elif name == "ruby":
            self._add_ruby(element, target, style)
        elif name == "alternatecontent":
            for inner in choose_alternative(element):
                self._add_run_part(inner, target, style)
        elif name in ("drawing", "pict", "object"):
            self._add_drawing(element, target)

    def _add_mark(self, kind: str, element: etree._Element, target: etree._Element) -> None:
        key = f"{kind}-{attribute(element, 'id')}"
        link = etree.SubElement(target, "a", {"role": "doc-noteref", "href": f"#{key}"})
        if not attribute(element, "customMarkFollows"):
            etree.SubElement(link, "sup").text = self._marks.setdefault(key, str(len(self._marks) + 1))

    def _add_symbol(self, element: etree._Element, target: etree._Element) -> None:
        code = attribute(element, "char")
        number = int(code, 16) & 0xFF if re.fullmatch("[0-9A-Fa-f]{1,4}", code) else 0
        place = number - ord("A")
        if attribute(element, "font").lower() == "symbol" and 0 <= place < len(GREEK):
            _append_text(target, GREEK[place])
        elif self._is_alone(element):  # an ornament of a font such as Wingdings
            _append_text(target, "\u2766")
        else:
            etree.SubElement(target, "span", {LEFT_OUT: "symbol"}).text = "\u2766"

    def _is_alone(self, symbol: etree._Element) -> bool:
        paragraph = next(symbol.iterancestors("{*}p"), None)
        if paragraph is not self._last_with_symbol:
            self._last_with_symbol = paragraph
            self._shows_text = paragraph is None or has_text(paragraph)
        return not self._shows_text

    def _add_ruby(self, element: etree._Element, target: etree._Element, style: Style) -> None:
        ruby = etree.SubElement(target, "ruby")
        for part in element:
            if local_name(part) == "rubybase":
                self._add_runs(part, ruby, style)
            elif local_name(part) == "rt":
                self._add_runs(part, etree.SubElement(ruby, "rt"), style)

    def _add_drawing(self, element: etree._Element, target: etree._Element) -> None:
        """A picture, a rule, or boxes of text, which are read after the paragraph that they hang on."""
        boxes = list(find_text_boxes(element))
        if any(attribute(inner, "hr") in ("t", "1", "true") for inner in element.iter("*")):
            etree.SubElement(target, "hr")
        elif not boxes:
            etree.SubElement(target, "img")
        self._boxes += boxes
        for path in element.iter("{*}textpath"):
            if words := attribute(path, "string"):
                _append_text(target, f" {words} ")


def _deleted(name: str) -> str:
    return "deleted text" if name == "del" else "text moved elsewhere"


def _inside(part: etree._Element, name: str) -> Iterator[etree._Element]:
    """Rows of a table or cells of a row, also those inside content controls and the like."""
    for element in part:
        if local_name(element) == name:
            yield element
        elif local_name(element) in _TRANSPARENT:
            yield from _inside(element, name)


def _append_text(target: etree._Element, text: str) -> None:
    if len(target):
        target[-1].tail = (target[-1].tail or "") + text
    else:
        target.text = (target.text or "") + text


def read_parts(parts: Mapping[str, list[etree._Element]]) -> BodyBuilder:
    """One tree of all parts, by their kinds: `main`, `styles`, `numbering`, `footnotes`, …"""
    first = {kind: roots[0] for kind, roots in parts.items() if roots}
    builder = BodyBuilder(StyleSheet(first.get("styles")), Numbering(first.get("numbering")))
    builder.add_main(first["main"])
    for kind in ("footnote", "endnote"):
        for part in parts.get(f"{kind}s", []):
            builder.add_notes(part, kind)
    for kind, reason in (("header", "page header"), ("footer", "page footer"), ("comments", "comment")):
        for part in parts.get(kind, []):
            builder.add_unread(part, reason)
    for part in parts.get("diagramData", []):
        builder.add_diagram(part)
    return builder
