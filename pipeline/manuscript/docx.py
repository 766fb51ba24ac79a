"""A Word document (.docx) to a `Book`. Spans are places in the tree of HTML that `read_docx_tree` makes of it."""

from __future__ import annotations

import posixpath
from pathlib import Path

from lxml import etree

from pipeline.errors import ManuscriptError
from pipeline.manuscript.archive import Archive, join_href
from pipeline.manuscript.book import Book
from pipeline.manuscript.docx_body import BodyBuilder, read_parts
from pipeline.manuscript.docx_styles import attribute
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import local_name, parse_xml
from pipeline.manuscript.one_document import make_book
from pipeline.manuscript.prose import clean
from pipeline.manuscript.reading import Reading

_KINDS = ("styles", "numbering", "footnotes", "endnotes", "header", "footer", "comments", "diagramData")
_MAX_PARTS = 1000
"""Of a kind: a document has a header or so for each of its sections."""


def read_docx(path: Path, reading: Reading) -> Book:
    """Raises `ManuscriptError` when it is no Word document, damaged, unsafe to unpack, or holds other files' text."""
    with Archive(path, "a Word document") as archive:
        builder = _build(archive)
        fields = _read_core(archive)
    language = fields.get("language") or builder.language
    document = read_tree(builder.root, path.name, reads_notes=reading.notes != "skip", language=language)
    titles = builder.titles
    return make_book(
        document,
        reading,
        title=fields.get("title") or (titles[0] if len(titles) == 1 else ""),
        authors=tuple(name for name in map(clean, fields.get("creator", "").split(";")) if name),
        language=language,
        publisher=fields.get("publisher", ""),
    )


def read_docx_tree(path: Path) -> etree._Element:
    """The tree that the spans of a document are places in."""
    with Archive(path, "a Word document") as archive:
        return _build(archive).root


def _build(archive: Archive) -> BodyBuilder:
    main = _find_main(archive)
    root = parse_xml(archive.read(main))
    if root is None or local_name(root) != "document":
        raise ManuscriptError(
            f"{archive.path} has no text that can be found ({main}); open it in Word and save it again."
        )
    parts: dict[str, list[etree._Element]] = {"main": [root]}
    for kind, name in dict.fromkeys(_related(archive, main)):
        if kind in _KINDS and len(parts.setdefault(kind, [])) < _MAX_PARTS:
            part = parse_xml(archive.read(name))
            if part is not None:
                parts[kind].append(part)
    for kind in ("main", "footnotes", "endnotes"):
        if any(next(part.iter("{*}altChunk"), None) is not None for part in parts.get(kind, [])):
            raise ManuscriptError(
                f"{archive.path} holds the text of another file, which only Word puts in; open it in Word and "
                "save it again."
            )
    return read_parts(parts)


def _find_main(archive: Archive) -> str:
    related = dict(reversed(_related(archive, "")))
    name = related.get("officeDocument") or archive.find("word/document.xml")
    if not name:
        raise ManuscriptError(
            f"{archive.path} is not a Word document, for it has no word/document.xml; give it the suffix that it is, "
            "or get a fresh copy."
        )
    return name


def _related(archive: Archive, part: str) -> list[tuple[str, str]]:
    """Kind and member of each part that a part names, those outside the document aside."""
    folder, _, file = part.rpartition("/")
    relations = archive.find(posixpath.join(folder, "_rels", f"{file}.rels"))
    root = parse_xml(archive.read(relations)) if relations else None
    found = []
    for element in root.iter("*") if root is not None else ():
        if local_name(element) != "relationship" or attribute(element, "TargetMode").lower() == "external":
            continue
        joined = join_href(part, attribute(element, "Target"))
        name = archive.find(joined[0]) if joined else None
        if name:
            found.append((attribute(element, "Type").rpartition("/")[2], name))
    return found


def _read_core(archive: Archive) -> dict[str, str]:
    name = archive.find("docProps/core.xml")
    root = parse_xml(archive.read(name)) if name else None
    values = {local_name(e): clean("".join(map(str, e.itertext()))) for e in root} if root is not None else {}
    return {key: text for key, text in values.items() if text}
