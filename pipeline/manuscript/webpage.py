"""One HTML or XHTML file to a `Book`."""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.book import Book
from pipeline.manuscript.gutenberg import leave_out_boilerplate
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.left_out import LEFT_OUT, visible_text
from pipeline.manuscript.markup import language_of, local_name, parse_markup
from pipeline.manuscript.one_document import make_book
from pipeline.manuscript.prose import clean
from pipeline.manuscript.reading import Reading

_SITE = re.compile(r"(?:The Project Gutenberg e-?(?:Book|text) of )?(.+?)(?:, by ([^,]+))?\.?", re.IGNORECASE)
_CONTROLS = dict.fromkeys(["button", "select", "textarea", "datalist"], "control of a form") | {
    "noscript": "stand-in for a script"
}
_AROUND = {
    "footer": "page footer",
    "contentinfo": "page footer",
    "aside": "sidebar",
    "complementary": "sidebar",
    "navigation": "navigation",
    "search": "control of a form",
}
"""Elements and roles outside the one `<main>` of a page. A header may hold the book's title."""


def read_webpage(name: str, data: bytes, reading: Reading) -> Book:
    """Raises `ManuscriptError` when it is nested too deep to read."""
    root = parse_markup(data, name)
    if root is None:
        return Book("", (), "", ())
    return read_page(root, name, reading)


def read_page(root: etree._Element, name: str, reading: Reading) -> Book:
    """A tree as a whole book: its metadata are those of its head."""
    _mark_surroundings(root)
    meta = _read_meta(root)
    language = language_of(root) or next(iter(meta.get("language", [])), "")
    document = read_tree(root, name, reads_notes=reading.notes != "skip", language=language)
    is_gutenberg = bool(leave_out_boilerplate([document]))
    title = next((visible_text(title)[0] for title in root.iter("{*}title")), "")
    authors = meta.get("author", [])
    if is_gutenberg and (found := _SITE.fullmatch(title)):
        title = found[1]
        authors = authors or ([found[2]] if found[2] else [])
    return make_book(
        document,
        reading,
        title=next(iter(meta.get("title", [])), title),
        authors=tuple(authors),
        language=language,
        publisher=next(iter(meta.get("publisher", [])), ""),
        date=next(iter(meta.get("date", [])), ""),
    )


def _mark_surroundings(root: etree._Element) -> None:
    """Set what a browser's page has beside its text to be left out: controls, and what lies around a `<main>`."""
    mains = [element for element in root.iter("*") if local_name(element) == "main" or element.get("role") == "main"]
    within = {mains[0], *mains[0].iterancestors(), *mains[0].iterdescendants()} if len(mains) == 1 else set()
    for element in root.iter("*"):
        reason = _CONTROLS.get(local_name(element), "")
        if within and element not in within:
            reason = reason or _AROUND.get(local_name(element), "") or _AROUND.get(element.get("role") or "", "")
        if reason:
            element.set(LEFT_OUT, reason)


def _read_meta(root: etree._Element) -> dict[str, list[str]]:
    """Values of `<meta>`, by name: Dublin Core's and Open Graph's words are those of HTML."""
    names = {"creator": "author", "dc.creator": "author", "dc.title": "title", "dc.language": "language",
             "dc.publisher": "publisher", "dc.date": "date", "dcterms.date": "date", "og:title": "title",
             "content-language": "language"}  # fmt: skip
    found: dict[str, list[str]] = {}
    for element in root.iter("*"):
        if local_name(element) != "meta":
            continue
        name = (element.get("name") or element.get("property") or element.get("http-equiv") or "").lower()
        name = name.replace("dcterms.creator", "dc.creator").replace("dcterms.title", "dc.title")
        value = clean(element.get("content") or "")
        values = found.setdefault(names.get(name, name), [])
        if value and value not in values:
            values.append(value)
    return found
