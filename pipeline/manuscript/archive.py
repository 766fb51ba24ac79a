"""The zip file an EPUB or a Word document is: bounded reads, and names that stay inside."""

from __future__ import annotations

import lzma
import posixpath
import re
import struct
import unicodedata
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

from pipeline.errors import ManuscriptError

_MIB = 2**20
_MAX_TOTAL_BYTES = 500 * _MIB
MAX_DOCUMENT_BYTES = 64 * _MIB
_MAX_RATIO = 200
_MAX_MEMBERS = 50_000
_MAX_DIRECTORY_BYTES = 8 * _MIB
_MAX_SHOWN_CHARS = 100
_FAULTS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, ValueError, NotImplementedError,
    RuntimeError, OverflowError, IndexError, OSError,
)  # fmt: skip
"""What zipfile raises for damage."""


class Archive:
    """A zip file open for reading. Nothing is ever unpacked to disk."""

    def __init__(self, path: Path, kind: str = "an EPUB") -> None:
        """Raises `ManuscriptError` when the file is no zip archive, or has encrypted members."""
        self.path = path
        try:
            if _directory_size(path) > _MAX_DIRECTORY_BYTES:
                raise ManuscriptError(f"{path} is not safe to read, for it lists more files than any book has.")
            self._zip = zipfile.ZipFile(path)
        except _FAULTS as error:
            raise ManuscriptError(
                f"{path} is not {kind}, or is cut short or damaged, for it can't be opened as a zip archive "
                f"({show(str(error))}); get a fresh copy, or give the file the suffix that it is."
            ) from error
        if len(self._zip.infolist()) > _MAX_MEMBERS:
            self._zip.close()
            raise ManuscriptError(f"{path} is not safe to read, for it lists more files than any book has.")
        self._num_bytes_read = 0
        self._members = {info.filename: info for info in self._zip.infolist() if info.filename[-1:] not in ("", "/")}
        self._folded: dict[str, str] = {}
        for name, info in self._members.items():
            self._folded.setdefault(_fold(name), name)
            if not info.flag_bits & 0x800:  # names in UTF-8 that don't say so
                self._folded.setdefault(_fold(_as_utf_8(name)), name)
        if any(info.flag_bits & 0x1 for info in self._members.values()):
            self._zip.close()
            raise ManuscriptError(f"{path} is locked with a password; unlock it and save it without one.")

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def names(self) -> list[str]:
        return list(self._members)

    def find(self, name: str) -> str | None:
        """The member of that name, upper and lower case and Unicode normal form being no matter."""
        return name if name in self._members else self._folded.get(_fold(name))

    def read(self, name: str, max_bytes: int = MAX_DOCUMENT_BYTES) -> bytes:
        """The bytes of a member. Raises `ManuscriptError` when damaged, or unpacking to more than is sane.

        What counts is what comes out: the sizes that the archive states are not believed.
        """
        info = self._members[name]
        data = bytearray()
        try:
            with self._zip.open(info) as member:
                while part := member.read(_MIB):
                    data += part
                    self._num_bytes_read += len(part)
                    self._check_size(info, len(data), max_bytes)
        except _FAULTS as error:
            raise ManuscriptError(
                f"{self.path} is damaged: {show(name)} can't be unpacked ({show(str(error))}); "
                "get a fresh copy of the book."
            ) from error
        return bytes(data)

    def _check_size(self, info: zipfile.ZipInfo, num_bytes: int, max_bytes: int) -> None:
        is_bomb = num_bytes > _MIB and num_bytes > _MAX_RATIO * max(info.compress_size, 1)
        if is_bomb or num_bytes > max_bytes or self._num_bytes_read > _MAX_TOTAL_BYTES:
            raise ManuscriptError(
                f"{self.path} is not safe to read, for {show(info.filename)} unpacks to an absurd size; "
                "remove that file from it, or get a copy from its publisher."
            )


def _directory_size(path: Path) -> int:
    """How long the central directory says it is: all of it would be read at once. 0 where nothing says so."""
    with path.open("rb") as file:
        file.seek(0, 2)
        file.seek(max(0, file.tell() - 2**16 - 100))
        tail = file.read()
    end = tail.rfind(b"PK\x05\x06")
    size = int.from_bytes(tail[end + 12 : end + 16], "little") if end >= 0 else 0
    wide = tail.rfind(b"PK\x06\x06")
    if wide >= 0:
        size = max(size if size != 0xFFFFFFFF else 0, int.from_bytes(tail[wide + 40 : wide + 48], "little"))
    return size


def show(name: str) -> str:
    """A name from inside a manuscript for a message: on one line, and not too long."""
    printable = "".join(char if char.isprintable() else "\ufffd" for char in name)
    return printable if len(printable) <= _MAX_SHOWN_CHARS else printable[: _MAX_SHOWN_CHARS - 1] + "…"


def _as_utf_8(name: str) -> str:
    try:
        return name.encode("cp437").decode("utf-8")
    except UnicodeError:
        return name


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name.replace("\\", "/")).casefold()


def join_href(base: str, href: str) -> tuple[str, str] | None:
    """The member name and fragment that `href` means in the member `base`; None when it leads outside."""
    if re.match(r"[a-z][a-z0-9+.-]*:|//", href.strip(), re.IGNORECASE):
        return None
    place, _, fragment = href.strip().replace("\\", "/").partition("#")
    place = unquote(place.partition("?")[0])
    folder = "" if place.startswith("/") else posixpath.dirname(base)  # "/x" is x at the archive's root
    name = posixpath.normpath(posixpath.join(folder, place.lstrip("/"))) if place else base
    if name.startswith("../") or name in ("..", "."):
        return None
    return name, unquote(fragment)
