"""Which reader a manuscript needs, and why some are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pipeline.errors import ManuscriptError
from pipeline.manuscript.archive import MAX_DOCUMENT_BYTES
from pipeline.manuscript.book import Book
from pipeline.manuscript.docx import read_docx
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.epub import read_epub
from pipeline.manuscript.folder_book import check_folder, read_folder
from pipeline.manuscript.markdown import read_markdown
from pipeline.manuscript.plain import read_plain
from pipeline.manuscript.prose import count_controls
from pipeline.manuscript.reading import Reading
from pipeline.manuscript.unread import advise, find_mismatch
from pipeline.manuscript.webpage import read_webpage

_TEXT_READERS: dict[str, Callable[[str, bytes, Reading], Book]] = {
    ".txt": read_plain,
    ".text": read_plain,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_webpage,
    ".htm": read_webpage,
    ".xhtml": read_webpage,
}
_ZIP_READERS: dict[str, Callable[[Path, Reading], Book]] = {".epub": read_epub, ".docx": read_docx}
SUFFIXES = frozenset([*_TEXT_READERS, *_ZIP_READERS])


def read(path: Path, reading: Reading) -> Book:
    """Read a manuscript by its suffix and content, or a folder of them where `reading` says that it is one book.

    Raises `ManuscriptError` when it is missing, empty, protected, unsafe, or not what its name says.
    """
    try:
        check_source(path, reading.as_book)
        if path.is_dir():
            inner = replace(reading, as_book=False)
            return read_folder(path, SUFFIXES, lambda file: read(file, inner))
        suffix = path.suffix.lower()
        if suffix in _ZIP_READERS:
            book = _ZIP_READERS[suffix](path, reading)
        else:
            book = _TEXT_READERS[suffix](path.name, _read_bytes(path), reading)
    except OSError as error:
        raise ManuscriptError(
            f"{path} can't be read ({error.strerror or error}); check the name and its permissions."
        ) from error
    if not any(block.text for chapter in book.chapters for block in chapter.blocks):
        raise ManuscriptError(
            f"{path} has nothing to say, for no text is left to read aloud; check that it is the right file."
        )
    return book


def check_source(path: Path, as_book: bool = False) -> None:
    """What can be said of a manuscript before all of it is read. Raises `ManuscriptError`, `OSError`."""
    suffix = path.suffix.lower()
    if path.is_dir():
        if not as_book:
            raise ManuscriptError(f"{path} is a folder; name the manuscript in it, or read all of them by --as-book.")
        check_folder(path, SUFFIXES)
        return
    if not path.exists():
        raise ManuscriptError(f"{path} doesn't exist; check the name and the folder.")
    if as_book:
        raise ManuscriptError(f"{path} is not a folder; leave out --as-book, which is for a folder of manuscripts.")
    if not path.is_file():
        raise ManuscriptError(f"{path} is not a file but a device or a pipe; name the manuscript itself.")
    if path.stat().st_size == 0:
        raise ManuscriptError(f"{path} is empty; get a fresh copy of the manuscript.")
    if advice := advise(path, suffix):
        raise ManuscriptError(f"{path} {advice}.")
    if suffix not in SUFFIXES:
        raise ManuscriptError(
            f"{path} has a suffix that isn't read ({suffix or 'none'}); "
            "give an EPUB (.epub), Word (.docx), text (.txt), Markdown (.md) or HTML (.html) file."
        )
    if mismatch := find_mismatch(path, suffix):
        raise ManuscriptError(f"{path} {mismatch}.")


def _read_bytes(path: Path) -> bytes:
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        raise ManuscriptError(f"{path} is larger than 64 MiB, which no book is; divide it, or check the file.")
    data = path.read_bytes()
    text = decode_text(data)
    num_controls, num_kinds = count_controls(text)
    if num_kinds > 2 and num_controls > len(text) / 100:
        raise ManuscriptError(
            f"{path} is not text but binary data; give it the suffix that it is, or get a fresh copy of the manuscript."
        )
    if not text.strip():
        raise ManuscriptError(f"{path} is empty but for white space; get a fresh copy of the manuscript.")
    return data
