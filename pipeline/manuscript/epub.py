"""EPUB 2 and 3 to a `Book`, in the order of the spine."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pipeline.manuscript.archive import Archive, join_href
from pipeline.manuscript.book import Book, LeftOut
from pipeline.manuscript.chapters import Entry, Place, divide
from pipeline.manuscript.document import Document
from pipeline.manuscript.gutenberg import leave_out_boilerplate
from pipeline.manuscript.html import leave_out_tree, read_tree
from pipeline.manuscript.left_out import MATTER_BY_TYPE
from pipeline.manuscript.markup import parse_markup, parse_xml
from pipeline.manuscript.package import Item, Package, read_cover, read_metadata, read_package
from pipeline.manuscript.protection import refuse_protected
from pipeline.manuscript.reading import Reading
from pipeline.manuscript.toc import TocEntry, read_landmarks, read_nav, read_ncx


@dataclass(slots=True)
class _Contents:
    """What the navigation document or NCX says, and the member its hrefs are relative to."""

    base: str = ""
    entries: list[TocEntry] = field(default_factory=list)
    landmarks: list[tuple[str, str, str]] = field(default_factory=list)
    """Base, type and href of each."""


def read_epub(path: Path, reading: Reading) -> Book:
    """Raises `ManuscriptError` when it is no EPUB, is damaged, protected by DRM, or unsafe to unpack."""
    with Archive(path) as archive:
        refuse_protected(archive)
        package = read_package(archive)
        nav = next((item for item in package.items.values() if "nav" in item.properties and item.name), None)
        contents = _read_contents(package, archive, nav)
        documents, left_out = _read_spine(package, archive, nav)
        left_out += leave_out_boilerplate(documents)
        entries = _place_entries(contents, documents, package, archive)
        guided = _guided_matter(contents, documents, package, archive)
        cover = read_cover(package, archive)
        return Book(
            title=_first(read_metadata(package, "title")),
            authors=tuple(dict.fromkeys(read_metadata(package, "creator"))),
            language=_first(read_metadata(package, "language")),
            chapters=divide(documents, entries, guided),
            left_out=tuple(left_out),
            cover=cover,
            publisher=_first(read_metadata(package, "publisher")),
            date=_first(read_metadata(package, "date")),
            notes=tuple(dict.fromkeys(package.notes)),
        )


def _first(values: list[str]) -> str:
    return values[0] if values else ""


def _read_contents(package: Package, archive: Archive, nav: Item | None) -> _Contents:
    contents = _Contents()
    root = parse_markup(archive.read(nav.name), f"{archive.path}: {nav.name}") if nav else None
    if nav and root is not None:
        landmarks = [(nav.name, kind, href) for kind, href in read_landmarks(root)]
        contents = _Contents(nav.name, read_nav(root), landmarks)
    if any(entry.href for entry in contents.entries):
        return contents
    ncx = package.items.get(package.ncx_id) or next(
        (item for item in package.items.values() if item.media_type == "application/x-dtbncx+xml"), None
    )
    root = parse_xml(archive.read(ncx.name)) if ncx and ncx.name else None
    if ncx and root is not None:
        contents.base, contents.entries = ncx.name, read_ncx(root)
    return contents


def _read_spine(package: Package, archive: Archive, nav: Item | None) -> tuple[list[Document], list[LeftOut]]:
    documents: list[Document] = []
    left_out: list[LeftOut] = []
    for item, is_linear in package.spine:
        root = parse_markup(archive.read(item.name), f"{archive.path}: {item.name}")
        if root is None:
            package.notes.append(f"{item.href} is empty.")
            documents.append(Document(item.name))
        elif item is nav:
            left_out.append(leave_out_tree(root, item.name, "navigation"))
        elif not is_linear:
            left_out.append(leave_out_tree(root, item.name, 'outside the reading order (linear="no")'))
        else:
            document = read_tree(root, item.name)
            documents.append(document)
            left_out += document.left_out
    return documents, left_out


def _find_place(base: str, href: str, documents: list[Document], archive: Archive) -> tuple[Place | None, str, str]:
    """Where an href points in the spine, its member, and the fragment if that doesn't exist."""
    joined = join_href(base, href)
    name = archive.find(joined[0]) if joined else None
    if joined is None or name is None:
        return None, "", ""
    for number, document in enumerate(documents):
        if document.file == name:
            fragment = joined[1]
            missing = fragment if fragment and fragment not in document.anchors else ""
            return Place(number, document.anchors.get(fragment, 0) if fragment else 0), name, missing
    return None, name, ""


def _place_entries(contents: _Contents, documents: list[Document], package: Package, archive: Archive) -> list[Entry]:
    entries = []
    unread = {item.name for item, is_linear in package.spine if not is_linear} | {contents.base}
    for line in contents.entries:
        if not line.href:
            continue
        place, name, missing = _find_place(contents.base, line.href, documents, archive)
        if place is None:
            if name not in unread:
                package.notes.append(
                    f"The table of contents points at {line.href}, which is not in the reading order; "
                    "the entry is skipped."
                )
            continue
        if missing:
            package.notes.append(
                f"The table of contents points at {line.href}, whose anchor doesn't exist; "
                "the chapter starts with the file."
            )
        entries.append(Entry(place, line.title, line.depth, line.is_part))
    return entries


def _guided_matter(
    contents: _Contents, documents: list[Document], package: Package, archive: Archive
) -> dict[Place, str]:
    """Front and back matter that the EPUB 2 guide or the EPUB 3 landmarks name, by where it begins."""
    guided: dict[Place, str] = {}
    references = [(package.name, kind, href) for kind, href in package.guide]
    for base, kind, href in references + contents.landmarks:
        reason = MATTER_BY_TYPE.get(kind.lower())
        place = _find_place(base, href, documents, archive)[0] if reason else None
        if reason and place is not None:
            guided.setdefault(place, reason)
    return guided
