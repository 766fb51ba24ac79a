"""Tables of contents and landmarks: the EPUB 3 navigation document and the EPUB 2 NCX."""

from __future__ import annotations

from dataclasses import dataclass

from lxml import etree

from pipeline.manuscript.left_out import visible_text
from pipeline.manuscript.markup import local_name, types_of


@dataclass(frozen=True, slots=True)
class TocEntry:
    """A line of a table of contents. `href` is as written there; empty for a mere label."""

    title: str
    href: str
    depth: int
    is_part: bool


def read_nav(root: etree._Element) -> list[TocEntry]:
    """The entries of the table of contents, in its order."""
    entries: list[TocEntry] = []
    for nav in _navs(root, "toc"):
        _walk_nav(nav, 0, entries)
    return entries


def read_landmarks(root: etree._Element) -> list[tuple[str, str]]:
    """Type and href of each landmark."""
    return [
        (kind, link.get("href") or "")
        for nav in _navs(root, "landmarks")
        for link in nav.iter("{*}a")
        for kind in sorted(types_of(link))
    ]


def read_ncx(root: etree._Element) -> list[TocEntry]:
    """The entries of an NCX, in its order: `playOrder` is often wrong."""
    entries: list[TocEntry] = []
    for nav_map in root.iter("{*}navMap"):
        _walk_ncx(nav_map, 0, entries)
    return entries


def _navs(root: etree._Element, kind: str) -> list[etree._Element]:
    return [nav for nav in root.iter("*") if local_name(nav) == "nav" and kind in types_of(nav)]


def _walk_nav(element: etree._Element, depth: int, entries: list[TocEntry]) -> None:
    for listing in element:
        if local_name(listing) not in ("ol", "ul"):
            continue
        for item in listing:
            if local_name(item) != "li":
                continue
            label = next((child for child in item if local_name(child) not in ("ol", "ul", "")), None)
            is_part = any(local_name(child) in ("ol", "ul") for child in item)
            if label is not None:
                entries.append(_nav_entry(label, depth, is_part))
            _walk_nav(item, depth + 1, entries)


def _nav_entry(label: etree._Element, depth: int, is_part: bool) -> TocEntry:
    link = label if local_name(label) == "a" else next(label.iter("{*}a"), label)
    return TocEntry(visible_text(label)[0], link.get("href") or "", depth, is_part)


def _walk_ncx(element: etree._Element, depth: int, entries: list[TocEntry]) -> None:
    for point in element:
        if local_name(point) != "navpoint":
            continue
        title = next((visible_text(text)[0] for text in point.findall("{*}navLabel/{*}text")), "")
        content = point.find("{*}content")
        is_part = point.find("{*}navPoint") is not None
        entries.append(TocEntry(title, (content.get("src") or "") if content is not None else "", depth, is_part))
        _walk_ncx(point, depth + 1, entries)
