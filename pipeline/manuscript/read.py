"""Which reader a manuscript needs, and why some are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline.errors import ManuscriptError
from pipeline.manuscript.archive import MAX_DOCUMENT_BYTES
from pipeline.manuscript.book import Book
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.epub import read_epub
from pipeline.manuscript.markdown import read_markdown
from pipeline.manuscript.plain import read_plain
from pipeline.manuscript.prose import count_controls
from pipeline.manuscript.reading import Reading
from pipeline.manuscript.webpage import read_webpage

_CONVERT = "convert it to EPUB, with Calibre for instance"
_ADVICE = {
    ".pdf": f"is a PDF, which fixes pages and not the order of its text; {_CONVERT}, and check the result",
    ".docx": f"is a Word document; save it as a web page (.html), or {_CONVERT}",
    ".doc": f"is a Word document; save it as a web page (.html), or {_CONVERT}",
    ".odt": f"is an OpenDocument text; save it as a web page (.html), or {_CONVERT}",
    ".rtf": f"is an RTF document; save it as a web page (.html), or {_CONVERT}",
    ".mobi": f"is a Kindle book; {_CONVERT}",
    ".azw": f"is a Kindle book; {_CONVERT}",
    ".azw3": f"is a Kindle book; {_CONVERT}",
    ".kfx": f"is a Kindle book; {_CONVERT}",
    ".fb2": f"is a FictionBook; {_CONVERT}",
}
_READERS: dict[str, Callable[[str, bytes, Reading], Book]] = {
    ".txt": read_plain,
    ".text": read_plain,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_webpage,
    ".htm": read_webpage,
    ".xhtml": read_webpage,
}
_MAGIC = (
    (b"PK\x03\x04", "a zip archive"),
    (b"%PDF-", "a PDF"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Word document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x1f\x8b", "a gzip archive"),
)


def read(path: Path, reading: Reading) -> Book:
    """Read a manuscript by its suffix and content.

    Raises `ManuscriptError` when it is missing, empty, protected, unsafe, or not what its name says.
    """
    suffix = path.suffix.lower()
    try:
        check_source(path)
        book = (
            read_epub(path, reading) if suffix == ".epub" else _READERS[suffix](path.name, _read_bytes(path), reading)
        )
    except OSError as error:
        raise ManuscriptError(
            f"{path} can't be read ({error.strerror or error}); check the name and its permissions."
        ) from error
    if not any(block.text for chapter in book.chapters for block in chapter.blocks):
        raise ManuscriptError(
            f"{path} has nothing to say, for no text is left to read aloud; check that it is the right file."
        )
    return book


def check_source(path: Path) -> None:
    """What can be said of a manuscript before all of it is read. Raises `ManuscriptError`, `OSError`."""
    suffix = path.suffix.lower()
    if path.is_dir():
        raise ManuscriptError(f"{path} is a folder; name the manuscript in it.")
    if not path.exists():
        raise ManuscriptError(f"{path} doesn't exist; check the name and the folder.")
    if path.stat().st_size == 0:
        raise ManuscriptError(f"{path} is empty; get a fresh copy of the manuscript.")
    if suffix in _ADVICE:
        raise ManuscriptError(f"{path} {_ADVICE[suffix]}.")
    if suffix != ".epub" and suffix not in _READERS:
        raise ManuscriptError(
            f"{path} has a suffix that isn't read ({suffix or 'none'}); "
            "give an EPUB (.epub), text (.txt), Markdown (.md) or HTML (.html) file."
        )
    with path.open("rb") as file:
        head = file.read(16)
    found = next((what for magic, what in _MAGIC if head.startswith(magic)), "")
    if suffix == ".epub" and found != "a zip archive":
        raise ManuscriptError(
            f"{path} is not an EPUB but {found or 'something else'}; give it the suffix that it is, "
            "or get a copy that is an EPUB."
        )
    if suffix != ".epub" and found:
        raise ManuscriptError(f"{path} is not text but {found}; give it the suffix that it is, or {_CONVERT}.")


def _read_bytes(path: Path) -> bytes:
    if path.stat().st_size > MAX_DOCUMENT_BYTES:
        raise ManuscriptError(f"{path} is larger than 64 MiB, which no book is; divide it, or check the file.")
    data = path.read_bytes()
    text = decode_text(data)
    num_controls, num_kinds = count_controls(text)
    if num_kinds > 2 and num_controls > len(text) / 100:
        raise ManuscriptError(f"{path} is not text but binary data; give it the suffix that it is, or {_CONVERT}.")
    if not text.strip():
        raise ManuscriptError(f"{path} is empty but for white space; get a fresh copy of the manuscript.")
    return data
