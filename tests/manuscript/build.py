"""Builds small EPUBs for tests, right ones and wrong ones."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pipeline.manuscript.book import Block, Book, Chapter, Kind

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OPS/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PNG = b"\x89PNG\r\n\x1a\n" + bytes(24)


def page(body: str, attributes: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>t</title></head>'
        f"<body {attributes}>{body}</body></html>"
    )


def nav(entries: str, landmarks: str = "") -> str:
    """A navigation document: `entries` is the inside of its `<ol>`."""
    marks = f'<nav epub:type="landmarks"><ol>{landmarks}</ol></nav>' if landmarks else ""
    return page(f'<nav epub:type="toc"><h1>Contents</h1><ol>{entries}</ol></nav>{marks}')


def lines(*entries: tuple[str, str]) -> str:
    return "".join(f'<li><a href="{href}">{title}</a></li>' for title, href in entries)


def ncx(*entries: tuple[str, str]) -> str:
    points = "".join(
        f'<navPoint id="n{number}" playOrder="{100 - number}"><navLabel><text>{title}</text></navLabel>'
        f'<content src="{href}"/></navPoint>'
        for number, (title, href) in enumerate(entries)
    )
    return f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>'


def opf(
    files: Sequence[str],
    *,
    spine: Sequence[str] | None = None,
    metadata: str = "<dc:title>A Book</dc:title><dc:creator>Ann Author</dc:creator><dc:language>en</dc:language>",
    manifest: str = "",
    guide: str = "",
    linear: Mapping[str, str] | None = None,
) -> str:
    """A package whose ids are the file names. Files named nav.xhtml and toc.ncx are what they are called."""
    items = ""
    for name in files:
        kind = "application/x-dtbncx+xml" if name.endswith(".ncx") else "application/xhtml+xml"
        nav_property = ' properties="nav"' if name == "nav.xhtml" else ""
        items += f'<item id="{name}" href="{name}" media-type="{kind}"{nav_property}/>'
    order = [name for name in files if name not in ("nav.xhtml", "toc.ncx")] if spine is None else spine
    refs = "".join(f'<itemref idref="{name}" linear="{(linear or {}).get(name, "yes")}"/>' for name in order)
    return (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{metadata}</metadata>'
        f"<manifest>{items}{manifest}</manifest><spine>{refs}</spine><guide>{guide}</guide></package>"
    )


def zip_files(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def epub(
    folder: Path,
    pages: Mapping[str, str | bytes],
    *,
    package: str | None = None,
    more: Mapping[str, str | bytes] | None = None,
) -> Path:
    """An EPUB with `pages` below OPS/, in a package made for them unless one is given."""
    files: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OPS/package.opf": package or opf(list(pages)),
    }
    files |= {f"OPS/{name}": data for name, data in pages.items()}
    return zip_files(folder / "book.epub", files | dict(more or {}))


def texts(chapter: Chapter) -> list[str]:
    return [block.text for block in chapter.blocks if block.kind is not Kind.BREAK]


def titles(book: Book) -> list[str]:
    return [chapter.title for chapter in book.chapters]


def kept_titles(book: Book) -> list[str]:
    return [chapter.title for chapter in book.chapters if chapter.kept]


def all_blocks(book: Book) -> list[Block]:
    return [block for chapter in book.chapters for block in chapter.blocks]


def all_text(book: Book) -> str:
    return " ".join(block.text for block in all_blocks(book))
