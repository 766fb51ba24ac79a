"""What of a marked-up text is not read aloud, and why."""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.markup import local_name
from pipeline.manuscript.prose import clean

LEFT_OUT = "{urn:render-book}left-out"
"""Why an element is left out, in a tree that a reader made itself."""
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
}
_BY_TYPE = {
    "pagebreak": "page number",
    "page-list": "page list",
    "pagelist": "page list",
    "noteref": "note mark",
    "backlink": "note mark",
    "footnote": "note",
    "footnotes": "note",
    "endnote": "note",
    "endnotes": "note",
    "rearnote": "note",
    "rearnotes": "note",
}
_BY_CLASS = {
    "pagenum": "page number",
    "pageno": "page number",
    "page-number": "page number",
    "footnote": "note",
    "footnotes": "note",
    "endnote": "note",
    "endnotes": "note",
}
MATTER_BY_TYPE = {
    "cover": "cover",
    "titlepage": "title page",
    "title-page": "title page",
    "halftitlepage": "half title page",
    "halftitle": "half title page",
    "copyright-page": "copyright page",
    "imprint": "imprint",
    "colophon": "colophon",
    "toc": "table of contents",
    "landmarks": "table of contents",
    "loi": "list of illustrations",
    "lot": "list of tables",
    "index": "index",
}
MATTER_BY_TITLE = {
    "contents": "table of contents",
    "table of contents": "table of contents",
    "copyright": "copyright page",
    "copyright page": "copyright page",
    "uncopyright": "copyright page",
    "imprint": "imprint",
    "colophon": "colophon",
    "cover": "cover",
    "cover page": "cover",
    "title page": "title page",
    "titlepage": "title page",
    "half title": "half title page",
    "half title page": "half title page",
    "halftitlepage": "half title page",
    "index": "index",
    "toc": "table of contents",
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
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MARK = re.compile(r"(?:[\[(]\s*)?(?:\d{1,4}|[a-z]|[ivxlc]{1,6}|[*†‡§¶‖#]{1,4})(?:\s*[\])])?", re.IGNORECASE)
_SURE_MARK = re.compile(r"[\[(].*[\])]|[*†‡§¶‖]+")
_MARK_CLASS = re.compile(r"noteref|fnanchor|footnote|endnote|fnref", re.IGNORECASE)


def reason_to_leave_out(element: etree._Element, tag: str, types: frozenset[str]) -> str:
    """Why an element isn't read aloud, or an empty string."""
    if tag in _BY_TAG:
        return _BY_TAG[tag]
    if not element.attrib:
        return ""
    if reason := element.get(LEFT_OUT):
        return reason
    for kind in sorted(types):  # a set's order changes from run to run
        if kind in _BY_TYPE:
            return _BY_TYPE[kind]
    if _is_hidden(element):
        return "hidden text"
    for word in (element.get("class") or "").lower().split():
        # A span of class "footnote" may be the note's mark or mere small print; a block of it is the note.
        if word in _BY_CLASS and (tag in BLOCKS or word.startswith("page")):
            return _BY_CLASS[word]
    if tag == "a" and _is_note_mark(element):
        return "note mark"
    return ""


def _is_hidden(element: etree._Element) -> bool:
    return (
        element.get("hidden") is not None
        or (element.get("aria-hidden") or "").lower() == "true"
        or _HIDDEN_STYLE.search(element.get("style") or "") is not None
    )


def _is_note_mark(link: etree._Element) -> bool:
    """A link whose whole text is "1", "[1]" or "*": raised, bracketed, a symbol, or of a telling class."""
    href = link.get("href") or ""
    text = visible_text(link)[0]
    if not href or not _MARK.fullmatch(text):
        return False
    parent = link.getparent()
    if (parent is not None and local_name(parent) == "sup") or any(local_name(child) == "sup" for child in link):
        return True
    if "#" not in href:
        return False
    return bool(_SURE_MARK.fullmatch(text) or _MARK_CLASS.search(link.get("class") or ""))


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
