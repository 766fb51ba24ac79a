"""What of a marked-up text is not read aloud, and why.

Attributes are no text: a picture's `alt` is neither read nor listed, unless it is the letter of a drop cap.
"""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.markup import OPS, local_name
from pipeline.manuscript.prose import clean

LEFT_OUT = "{urn:render-book}left-out"
"""Why an element is left out, in a tree that a reader made itself."""
SCENE_BREAK = "scene break, heard as a pause"
_BY_TAG = {
    "head": "document head",
    "script": "script",
    "style": "style sheet",
    "template": "hidden text",
    "nav": "navigation",
    "rt": "ruby annotation",
    "rtc": "ruby annotation",
    "rp": "ruby annotation",
    "title": "picture description",  # of an SVG: an HTML title lies in the head
    "desc": "picture description",
    "metadata": "picture description",
    "annotation": "formula source",
    "annotation-xml": "formula source",
    "audio": "stand-in for a recording",
    "video": "stand-in for a film",
    "iframe": "stand-in for a frame",
    "canvas": "stand-in for a drawing",
    "object": "stand-in for a picture or film",
    "noscript": "stand-in for a script",
    "datalist": "hidden text",
}
_BY_TYPE = {
    "pagebreak": "page number",
    "page-list": "page list",
    "pagelist": "page list",
    "noteref": "note mark",
    "backlink": "note mark",
}
_NOTE_BODIES = frozenset(["footnote", "endnote", "rearnote"])
_NOTE_CONTAINERS = frozenset(["footnotes", "endnotes", "rearnotes"])
_BY_CLASS = {
    "pagenum": "page number",
    "pageno": "page number",
    "page-number": "page number",
    "pagenumber": "page number",
    "pgnum": "page number",
    "lnum": "line number",
    "linenum": "line number",
    "linenumber": "line number",
    "line-number": "line number",
}
# fmt: off
BLOCKS = frozenset(
    [
        "address", "article", "aside", "blockquote", "body", "book", "bodymatter", "caption", "center",
        "dd", "details", "dialog", "dir", "div", "dl", "doctitle", "docauthor", "dt", "fieldset",
        "figcaption", "figure", "footer", "foreignobject", "form", "frontmatter", "h1", "h2", "h3",
        "h4", "h5", "h6", "hd", "header", "hgroup", "hr", "html", "legend", "level", "level1", "level2",
        "level3", "level4", "level5", "level6", "li", "line", "linegroup", "list", "main", "menu",
        "nav", "ol", "optgroup", "option", "p", "pre", "rearmatter", "search", "section", "sidebar",
        "summary", "table", "tbody", "td", "text", "tfoot", "th", "thead", "tr", "ul",
    ]
)
# fmt: on
_RAISED_CLASSES = frozenset(["sup", "super", "superscript"])
HEADING_TAGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6", "hd", "hgroup"])
MARK = re.compile(r"(?:[\[(]\s*)?(?:\d{1,4}|[a-z]|[ivxlc]{1,6}|[*†‡§¶‖#]{1,4})(?:\s*[\])])?", re.IGNORECASE)
_SURE_MARK = re.compile(r"[\[(].*[\])]|[*†‡§¶‖]+")
_MAX_INITIAL_CHARS = 3
_MARK_CLASS = re.compile(r"noteref|fnanchor|footnote|endnote|fnref", re.IGNORECASE)


def reason_to_leave_out(element: etree._Element, tag: str, types: frozenset[str]) -> str:
    """Why an element isn't read aloud, or an empty string. Notes and style sheets have a say of their own."""
    if tag in _BY_TAG:
        return _BY_TAG[tag]
    if tag == "case" and isinstance(element.tag, str) and OPS in element.tag:
        return "alternative for other readers"  # of an epub:switch, whose default is read
    if tag == "dialog" and element.get("open") is None:
        return "hidden text"
    if not element.attrib:
        return ""
    if reason := element.get(LEFT_OUT):
        return reason
    for kind in sorted(types):  # a set's order changes from run to run
        if kind in _BY_TYPE:
            return _BY_TYPE[kind]
    if element.get("hidden") is not None:
        return "hidden text"
    if _is_aria_hidden(element) and not _is_of_a_word(element, tag):
        return "hidden text"
    for word in _words(element):
        if word in _BY_CLASS:
            return _BY_CLASS[word]
    return ""


def _is_aria_hidden(element: etree._Element) -> bool:
    return (element.get("aria-hidden") or "").lower() == "true"


def _is_of_a_word(element: etree._Element, tag: str) -> bool:
    """Whether letters hidden from screen readers are part of a word: of an ancestor's label, or of one that goes on.

    An ornament isn't, nor what repeats the text before it, nor an icon's name before a word of its own.
    """
    text = visible_text(element)[0] if tag not in BLOCKS else ""
    if not any(map(str.isalpha, text)):
        return False
    for around in element.iterancestors():
        if _letters(text) in _letters(around.get("aria-label") or ""):
            return True
        if local_name(around) in BLOCKS:
            break
    if not text[-1].isalpha() or _text_before(element).endswith(text):
        return False
    after = _text_after(element)[:1]
    return after.islower() or (len(text) <= _MAX_INITIAL_CHARS and after.isalpha())


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).casefold()


def _text_before(element: etree._Element) -> str:
    before = element.getprevious()
    if before is None:
        parent = element.getparent()
        return (parent.text or "") if parent is not None else ""
    return before.tail or ("" if local_name(before) in BLOCKS else visible_text(before)[0])


def _text_after(element: etree._Element) -> str:
    after = element.getnext()
    if element.tail or after is None or local_name(after) in BLOCKS or _is_aria_hidden(after):
        return element.tail or ""
    return visible_text(after)[0]


def is_note_body(element: etree._Element, tag: str, types: frozenset[str]) -> bool:
    """Whether a book says that this is a note. A span of class "footnote" may be its mark, or mere small print."""
    return not types.isdisjoint(_NOTE_BODIES) or (tag in BLOCKS and not _NOTE_BODIES.isdisjoint(_words(element)))


def is_note_container(element: etree._Element, tag: str, types: frozenset[str]) -> bool:
    return not types.isdisjoint(_NOTE_CONTAINERS) or (
        tag in BLOCKS and not _NOTE_CONTAINERS.isdisjoint(_words(element))
    )


def is_note_mark(link: etree._Element) -> bool:
    """A link whose whole text is "1", "[1]" or "*": raised, bracketed, a symbol, or of a telling class."""
    href = link.get("href") or ""
    text = visible_text(link)[0]
    if not href or not MARK.fullmatch(text):
        return False
    parent = link.getparent()
    if (parent is not None and is_raised(parent)) or any(is_raised(child) for child in link) or is_raised(link):
        return True
    if "#" not in href:
        return False
    before = link.getprevious()
    lead = (before.tail if before is not None else parent.text if parent is not None else "") or ""
    is_bracketed = lead.endswith("[") and (link.tail or "").startswith("]")
    return is_bracketed or bool(_SURE_MARK.fullmatch(text) or _MARK_CLASS.search(link.get("class") or ""))


def is_raised(element: etree._Element) -> bool:
    """`<sup>`, or what a class or a style of its own sets as one."""
    if local_name(element) == "sup":
        return True
    style = (element.get("style") or "").replace(" ", "").lower() if element.attrib else ""
    return "vertical-align:super" in style or not _RAISED_CLASSES.isdisjoint(_words(element))


def _words(element: etree._Element) -> list[str]:
    return (element.get("class") or "").lower().split() if element.attrib else []


def visible_text(element: etree._Element) -> tuple[str, int]:
    """An element's text with its blocks set apart, and the length of its `string()`."""
    pieces: list[str] = []
    num_chars = 0
    for event, node in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if local_name(node) in BLOCKS or local_name(node) == "br":
            pieces.append(" ")
        raw = node.text if event == "start" else node.tail if node is not element else None
        if raw:
            pieces.append(raw)
            num_chars += len(raw)
    return clean("".join(pieces)), num_chars
