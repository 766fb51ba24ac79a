"""What is said of a file that is no manuscript we read: what it is, and what to do about it."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pipeline.manuscript.protection import is_kindle_protected

_CONVERT = "convert it to EPUB, with Calibre for instance"
_AS_DOCX = f"save it as .docx, or {_CONVERT}"
_KINDLE = frozenset([".mobi", ".azw", ".azw1", ".azw3", ".azw4", ".kfx", ".kpf", ".prc", ".tpz"])
_ADVICE = {
    ".pdf": f"is a PDF, which fixes pages and not the order of its text; {_CONVERT}, and check the result",
    ".doc": f"is an old Word document; {_AS_DOCX}",
    ".docm": f"is a Word document with macros; {_AS_DOCX}",
    ".dotx": f"is a Word template; {_AS_DOCX}",
    ".odt": f"is an OpenDocument text; {_AS_DOCX}",
    ".rtf": f"is an RTF document; {_AS_DOCX}",
    ".pages": f"is a Pages document; {_AS_DOCX}",
    ".wpd": f"is a WordPerfect document; {_AS_DOCX}",
    ".fb2": f"is a FictionBook; {_CONVERT}",
    ".lit": f"is a Microsoft Reader book; {_CONVERT}",
    ".ibooks": "is an Apple Books book; export it as EPUB",
    ".acsm": "is not a book but a ticket to download one with Adobe's DRM; get a copy without DRM",
    ".lcpl": "is not a book but a licence for one with Readium LCP (DRM); get a copy without DRM",
    ".tex": f"is LaTeX source; {_CONVERT}, or to Markdown, with pandoc for instance",
    ".rst": "is reStructuredText; convert it to Markdown or HTML, with pandoc for instance",
    ".adoc": "is AsciiDoc; convert it to HTML, with asciidoctor for instance",
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
    (b"SQLite format 3", "a database"),
)
_OLE = "an old Word document"
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_KINDLE_HEAD_BYTES = 2**20


def advise(path: Path, suffix: str) -> str:
    """What a file of a suffix that isn't read is, and the remedy; empty where nothing is known of it."""
    if suffix in _KINDLE:
        with path.open("rb") as file:
            is_protected = is_kindle_protected(file.read(_KINDLE_HEAD_BYTES))
        if is_protected:
            return "is a Kindle book protected by Amazon's DRM, which is not removed here; get a copy without DRM"
        return f"is a Kindle book; {_CONVERT}"
    return _ADVICE.get(suffix, "")


def find_mismatch(path: Path, suffix: str) -> str:
    """What is wrong when a file's first bytes are not those of its suffix, as the end of a sentence; or nothing."""
    with path.open("rb") as file:
        head = file.read(64)
        found = next((what for magic, what in _MAGIC if head.lstrip(b"\xef\xbb\xbf").startswith(magic)), "")
        if found == _OLE and suffix == ".docx" and _ENCRYPTED_STREAM in file.read():
            return "is locked with a password; open it in Word and save it without one"
    if suffix in (".epub", ".docx"):
        if found == "a zip archive" or (not found and zipfile.is_zipfile(path)):  # one with junk before it, say
            return ""
        kind = "an EPUB" if suffix == ".epub" else "a Word document (.docx)"
        return f"is not {kind} but {found or 'something else'}; give it the suffix that it is, or get a fresh copy"
    return f"is not text but {found}; give it the suffix that it is, or {_CONVERT}" if found else ""
