"""One HTML or XHTML file to a `Book`."""

from __future__ import annotations

from lxml import etree

from pipeline.manuscript.book import Book
from pipeline.manuscript.chapters import divide
from pipeline.manuscript.document import Document
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.left_out import visible_text
from pipeline.manuscript.markup import local_name, parse_markup
from pipeline.manuscript.prose import clean


def read_webpage(name: str, data: bytes) -> Book:
    """Raises `ManuscriptError` when it is nested too deep to read."""
    root = parse_markup(data, name)
    if root is None:
        return Book("", (), "", ())
    document: Document = read_tree(root, name)
    return Book(
        title=next((visible_text(title)[0] for title in root.iter("{*}title")), ""),
        authors=_meta(root, "author"),
        language=root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or "",
        chapters=divide([document]),
        left_out=tuple(document.left_out),
    )


def _meta(root: etree._Element, name: str) -> tuple[str, ...]:
    values = [
        clean(element.get("content") or "")
        for element in root.iter("*")
        if local_name(element) == "meta" and (element.get("name") or "").lower() == name
    ]
    return tuple(value for value in values if value)
