"""The package of an EPUB: container, EPUB manifest, spine, metadata, cover."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from pipeline.errors import ManuscriptError
from pipeline.manuscript.archive import Archive, join_href
from pipeline.manuscript.book import Cover
from pipeline.manuscript.left_out import visible_text
from pipeline.manuscript.markup import local_name, parse_markup, parse_xml

_NOT_MARKUP = (
    "image/",
    "audio/",
    "video/",
    "font/",
    "text/css",
    "application/pdf",
    "application/vnd.ms-opentype",
)
_TEXT = frozenset(
    ["application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml", "application/x-dtbk+xml"]
)


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the EPUB manifest. `name` is its member of the archive, or empty when there is none."""

    id: str
    href: str
    name: str
    media_type: str
    properties: frozenset[str]
    fallback: str

    def is_text(self) -> bool:
        """Whether it holds text for reading, and not a picture, a style or what tells of other files."""
        return bool(self.name) and self.media_type in _TEXT

    def is_markup(self) -> bool:
        return self.media_type == "image/svg+xml" or not self.media_type.startswith(_NOT_MARKUP)


@dataclass(slots=True)
class Package:
    name: str
    root: etree._Element
    items: dict[str, Item]
    spine: list[tuple[Item, bool]] = field(default_factory=list)
    """Items to be read in order, and whether they are linear."""
    ncx_id: str = ""
    guide: list[tuple[str, str]] = field(default_factory=list)
    """Type and href of each reference."""
    notes: list[str] = field(default_factory=list)


def read_package(archive: Archive) -> Package:
    """Raises `ManuscriptError` when there is no package file or it has no spine."""
    name = _find_package(archive)
    root = parse_xml(archive.read(name))
    if root is None:
        raise ManuscriptError(f"{archive.path} has an empty package file ({name}); get a fresh copy of the book.")
    package = Package(name, root, {})
    for element in _all(root, "item"):
        item = _item(element, archive, name)
        package.items.setdefault(item.id, item)
    package.guide = [(element.get("type") or "", element.get("href") or "") for element in _all(root, "reference")]
    for spine in _all(root, "spine"):
        package.ncx_id = spine.get("toc") or ""
    _read_spine(package)
    if not package.spine:
        raise ManuscriptError(
            f"{archive.path} has a spine that is missing or names no text, so its order is unknown; "
            "repair it in an EPUB editor such as Sigil or Calibre."
        )
    return package


def _find_package(archive: Archive) -> str:
    """The first package file that the container names, or the one that lies highest where it names none."""
    container = archive.find("META-INF/container.xml")
    root = parse_xml(archive.read(container)) if container else None
    for rootfile in _all(root, "rootfile") if root is not None else ():
        joined = join_href("", rootfile.get("full-path") or "")
        name = archive.find(joined[0]) if joined else None
        if name and _is_package(archive, name):
            return name
    packages = sorted(
        (name for name in archive.names() if name.lower().endswith(".opf")), key=lambda name: (name.count("/"), name)
    )
    for name in packages:
        if len(packages) == 1 or _is_package(archive, name):
            return name
    raise ManuscriptError(
        f"{archive.path} is not an EPUB, for it has no package file (.opf) that its container names; "
        "get a fresh copy, or give the file the suffix that it is."
    )


def _is_package(archive: Archive, name: str) -> bool:
    root = parse_xml(archive.read(name))
    return root is not None and local_name(root) == "package"


def _all(root: etree._Element, name: str) -> Iterator[etree._Element]:
    return (element for element in root.iter("*") if local_name(element) == name)


def _item(element: etree._Element, archive: Archive, base: str) -> Item:
    href = element.get("href") or ""
    joined = join_href(base, href)
    # An href that wasn't encoded though it should be ("50%20.xhtml" is the name) is tried as it stands.
    raw = join_href(base, href.replace("%", "%25"))
    name = (archive.find(joined[0]) if joined else None) or (archive.find(raw[0]) if raw else None)
    return Item(
        element.get("id") or "",
        href,
        name or "",
        (element.get("media-type") or "").lower().strip(),
        frozenset((element.get("properties") or "").split()),
        element.get("fallback") or "",
    )


def _read_spine(package: Package) -> None:
    seen = set()
    for element in _all(package.root, "itemref"):
        idref = element.get("idref") or ""
        item = package.items.get(idref)
        if item is None:
            package.notes.append(f"The spine names {idref!r}, which the EPUB manifest doesn't have; it is skipped.")
            continue
        item = _readable(package, item)
        if item.id in seen:
            package.notes.append(f"The spine names {item.href} more than once; it is read once.")
        elif not item.name:
            package.notes.append(f"The spine names {item.href}, which is not in the archive; it is skipped.")
        elif not item.is_markup():
            package.notes.append(f"The spine names {item.href}, which is {item.media_type} and has no text to read.")
        else:
            package.spine.append((item, (element.get("linear") or "yes").strip().lower() != "no"))
        seen.add(item.id)


def _readable(package: Package, item: Item) -> Item:
    """The item, or the first of its fallbacks that is text."""
    tried = {item.id}
    choice = item
    while not choice.is_markup() and choice.fallback in package.items and choice.fallback not in tried:
        choice = package.items[choice.fallback]
        tried.add(choice.id)
    return choice if choice.is_markup() else item


def read_metadata(package: Package, term: str) -> list[str]:
    """The values of a Dublin Core term, in order."""
    values = []
    for element in package.root.iter("*"):
        tag = element.tag if isinstance(element.tag, str) else ""
        if local_name(element) == term and ("purl.org/dc/" in tag.lower() or tag.startswith("dc:")):
            values.append(visible_text(element)[0])
    return [value for value in values if value]


def read_cover(package: Package, archive: Archive) -> Cover | None:
    """The cover picture, when it is a JPEG or PNG by its first bytes, and of a sane size."""
    name = _cover_name(package, archive)
    if not name:
        return None
    try:
        data = archive.read(name)
    except ManuscriptError as error:
        package.notes.append(f"The cover {name} is left out: {error}")
        return None
    cover = Cover.of(data)
    if cover is None:
        package.notes.append(f"The cover {name} is neither JPEG nor PNG; the audiobook has none.")
    return cover


def _cover_name(package: Package, archive: Archive) -> str:
    for item in package.items.values():
        if "cover-image" in item.properties and item.name:
            return item.name
    for meta in _all(package.root, "meta"):
        if (meta.get("name") or "").lower() == "cover":
            content = meta.get("content") or ""
            named = package.items.get(content)
            joined = join_href(package.name, content)
            name = named.name if named else (archive.find(joined[0]) if joined else None)
            if name:
                return _picture_in(name, archive)
    for kind, href in package.guide:
        joined = join_href(package.name, href)
        name = archive.find(joined[0]) if joined else None
        if "cover" in kind.lower() and name:
            return _picture_in(name, archive)
    return ""


def _picture_in(name: str, archive: Archive) -> str:
    """The picture a cover page shows first; the member itself when it is one."""
    if not name.lower().endswith((".xhtml", ".html", ".htm", ".xml", ".svg")):
        return name
    root = parse_markup(archive.read(name), name)
    for element in root.iter("*") if root is not None else ():
        if local_name(element) in ("img", "image"):
            href = element.get("src") or element.get("{http://www.w3.org/1999/xlink}href") or element.get("href") or ""
            joined = join_href(name, href)
            found = archive.find(joined[0]) if joined else None
            if found:
                return found
    return ""
