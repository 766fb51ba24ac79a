"""EPUB 2 and 3 to a `Book`, in the order of the spine."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lxml import etree

from pipeline.errors import ManuscriptError
from pipeline.manuscript.archive import Archive, join_href
from pipeline.manuscript.book import Block, Book, LeftOut
from pipeline.manuscript.chapters import divide
from pipeline.manuscript.document import Document
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.entries import Entry, Place
from pipeline.manuscript.gutenberg import leave_out_boilerplate
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import local_name, parse_markup, parse_xml
from pipeline.manuscript.matter import MATTER_BY_TYPE
from pipeline.manuscript.notes import find_notes
from pipeline.manuscript.package import Item, Package, read_cover, read_metadata, read_package
from pipeline.manuscript.proof import Source, check_reading
from pipeline.manuscript.protection import refuse_protected
from pipeline.manuscript.reading import Reading
from pipeline.manuscript.stylesheet import Wardrobe
from pipeline.manuscript.toc import TocEntry, read_landmarks, read_nav, read_ncx

_MAX_TEXT_BYTES = 128 * 2**20
_MIN_PROSE_LETTERS = 200
"""So many beside the links of a navigation document are text that a reader wants."""


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
        _mend_linear(package, contents, archive)
        spine = _Spine(package, archive, nav, reading)
        documents, left_out = spine.read()
        leave_out_boilerplate(documents)
        entries = _place_entries(contents, documents, package, archive)
        guided = _guided_matter(contents, documents, package, archive)
        cover = read_cover(package, archive)
        titles, authors = read_metadata(package, "title"), read_metadata(package, "creator")
        chapters = divide(documents, entries, guided, reading, _first(titles), authors)
        book = Book(
            title=_first(titles),
            authors=tuple(dict.fromkeys(authors)),
            language=_first(read_metadata(package, "language")),
            chapters=chapters,
            left_out=tuple(left for document in documents for left in document.left_out) + tuple(left_out),
            cover=cover,
            publisher=_first(read_metadata(package, "publisher")),
            date=_first(read_metadata(package, "date")),
            notes=tuple(dict.fromkeys(package.notes)),
        )
        check_reading(book, spine.sources, str(path))
        return book


def _first(values: list[str]) -> str:
    return values[0] if values else ""


def _read_contents(package: Package, archive: Archive, nav: Item | None) -> _Contents:
    contents = _Contents()
    language = _first(read_metadata(package, "language"))
    root = parse_markup(archive.read(nav.name), f"{archive.path}: {nav.name}", language) if nav else None
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


def _mend_linear(package: Package, contents: _Contents, archive: Archive) -> None:
    """Read what is marked as not linear, where the contents list more of that than of the rest, or there is no rest."""
    is_linear = {item.name: is_linear for item, is_linear in package.spine}
    joined = [join_href(contents.base, entry.href) for entry in contents.entries if entry.href]
    listed = {archive.find(place[0]) for place in joined if place} & is_linear.keys()
    num_linear = sum(is_linear[name] for name in listed if name)
    if any(is_linear.values()) and 2 * num_linear >= len(listed):
        return
    package.spine = [(item, True) for item, _ in package.spine]
    package.notes.append('The spine says of most chapters that they are outside of it (linear="no"); all are read.')


class _Spine:
    """Reads the files of the spine, and lists the text of all others."""

    def __init__(self, package: Package, archive: Archive, nav: Item | None, reading: Reading) -> None:
        self._package = package
        self._archive = archive
        self._nav = nav
        self._reads_notes = reading.notes != "skip"
        self._trees: dict[str, etree._Element] = {}
        self._notes: dict[str, list[Block]] = {}
        """Notes in files that are not in the reading order."""
        self._language = _first(read_metadata(package, "language"))
        self._num_bytes = 0
        self.sources: dict[str, Source] = {}
        """The texts of all files that were read or listed."""

    def read(self) -> tuple[list[Document], list[LeftOut]]:
        """The documents in reading order, and what is left out of the other files."""
        spine = [(item, is_linear) for item, is_linear in self._package.spine]
        in_spine = {item.name for item, _ in spine}
        others = [item for item in self._package.items.values() if item.is_text() and item.name not in in_spine]
        for item in dict.fromkeys([*(item for item, _ in spine), *others]):
            self._parse(item, is_read=item.name in in_spine)
        notes = find_notes(self._trees, self._resolve)
        wardrobe = Wardrobe(self._load_sheet)
        documents: list[Document] = []
        left_out: list[LeftOut] = []
        for item, is_linear in [*spine, *((item, False) for item in others)]:
            root = self._trees.pop(item.name, None)
            reason = self._reason(item, is_linear, item.name in in_spine, root)
            if root is None:
                if not reason:
                    documents.append(Document(item.name))
                continue
            styles = wardrobe.styles_of(root, item.name)
            document = read_tree(root, item.name, notes, styles, self._reads_notes, reason, self._language)
            self.sources[item.name] = document.source
            self._package.notes += document.faults
            if reason:
                left_out += document.left_out
                self._notes.update(document.notes)
            else:
                documents.append(document)
        for document in documents[:1]:
            document.notes.update(self._notes)
        return documents, left_out

    def _parse(self, item: Item, is_read: bool) -> None:
        data = self._archive.read(item.name)
        self._num_bytes += len(data)
        if self._num_bytes > _MAX_TEXT_BYTES:
            raise ManuscriptError(
                f"{self._archive.path} holds more text than any book does; check that it is the right file."
            )
        root = parse_markup(data, f"{self._archive.path}: {item.name}", self._language)
        if root is not None:
            self._trees[item.name] = root
        elif is_read:
            self._package.notes.append(f"{item.href} is empty.")

    def _reason(self, item: Item, is_linear: bool, is_in_spine: bool, root: etree._Element | None) -> str:
        if item is self._nav:
            has_prose = is_in_spine and root is not None and _num_letters_beside_nav(root) >= _MIN_PROSE_LETTERS
            if not has_prose:
                return "navigation"
        if not is_in_spine:
            return "not in the reading order"
        return "" if is_linear else 'outside the reading order (linear="no")'

    def _resolve(self, base: str, href: str) -> tuple[str, str] | None:
        joined = join_href(base, href)
        name = self._archive.find(joined[0]) if joined else None
        return (name, joined[1]) if joined and name else None

    def _load_sheet(self, base: str, href: str) -> tuple[str, str] | None:
        resolved = self._resolve(base, href)
        if resolved is None:
            return None
        data = self._archive.read(resolved[0])
        return resolved[0], decode_text(data)


def _num_letters_beside_nav(root: etree._Element) -> int:
    """How much a navigation document says outside `<nav>` and links, a preface for one."""
    num_letters = 0
    walk = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    for event, element in walk:
        if event == "start" and local_name(element) in ("head", "nav", "a", "script", "style"):
            walk.skip_subtree()
        elif event == "start":
            num_letters += sum(map(str.isalpha, element.text or ""))
        if event != "start":
            num_letters += sum(map(str.isalpha, element.tail or ""))
    return num_letters


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
    parts: list[TocEntry] = []
    unread = {item.name for item, is_linear in package.spine if not is_linear} | {contents.base}
    for line in contents.entries:
        parts = [part for part in parts if part.depth < line.depth]
        part = parts[-1].title if parts else ""
        parts += [line] if line.is_part else []
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
        entries.append(Entry(place, line.title, line.depth, line.is_part, part))
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
