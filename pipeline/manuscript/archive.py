"""The zip file an EPUB is: bounded reads, names that stay inside, protection named and refused."""

from __future__ import annotations

import posixpath
import re
import unicodedata
import zipfile
import zlib
from pathlib import Path
from types import TracebackType
from urllib.parse import unquote

from pipeline.errors import ManuscriptError
from pipeline.manuscript.markup import local_name, parse_xml

_MIB = 2**20
_MAX_TOTAL_BYTES = 500 * _MIB
MAX_DOCUMENT_BYTES = 64 * _MIB
_MAX_RATIO = 200
_FONT_OBFUSCATION = frozenset(["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"])
_PROTECTIONS = {
    "META-INF/license.lcpl": "Readium LCP",
    "META-INF/rights.xml": "Adobe ADEPT",
    "META-INF/sinf.xml": "Apple FairPlay",
}


class Archive:
    """A zip file open for reading. Nothing is ever unpacked to disk."""

    def __init__(self, path: Path) -> None:
        """Raises `ManuscriptError` when the file is no zip archive, or has encrypted members."""
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError) as error:
            raise ManuscriptError(
                f"{path} is not an EPUB, for it can't be opened as a zip archive ({error}); "
                "get a fresh copy, or give the file the suffix that it is."
            ) from error
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
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            NotImplementedError,
            RuntimeError,
            OSError,
        ) as error:
            raise ManuscriptError(
                f"{self.path} is damaged: {name} can't be unpacked ({error}); get a fresh copy of the book."
            ) from error
        return bytes(data)

    def _check_size(self, info: zipfile.ZipInfo, num_bytes: int, max_bytes: int) -> None:
        is_bomb = num_bytes > _MIB and num_bytes > _MAX_RATIO * max(info.compress_size, 1)
        if is_bomb or num_bytes > max_bytes or self._num_bytes_read > _MAX_TOTAL_BYTES:
            raise ManuscriptError(
                f"{self.path} is not safe to read, for {info.filename} unpacks to an absurd size; "
                "remove that file from the EPUB, or get a copy from its publisher."
            )

    def refuse_protected(self) -> None:
        """Raises `ManuscriptError` that names the protection (DRM), if there is any but obfuscated fonts."""
        scheme = next((scheme for name, scheme in _PROTECTIONS.items() if self.find(name)), "")
        encryption = self.find("META-INF/encryption.xml")
        if not scheme and encryption:
            algorithms = _encryption_algorithms(self.read(encryption))
            unknown = sorted(algorithms - _FONT_OBFUSCATION)
            scheme = f"encryption of an unknown kind ({unknown[0]})" if unknown else ""
        if scheme:
            raise ManuscriptError(
                f"{self.path} is protected by {scheme} (DRM), which is not removed here; "
                "get a copy without DRM from its publisher or shop."
            )


def _encryption_algorithms(data: bytes) -> set[str]:
    root = parse_xml(data)
    if root is None:
        return set()
    return {
        method.get("Algorithm") or "no algorithm named"
        for encrypted in root.iter("{*}EncryptedData")
        for method in encrypted
        if local_name(method) == "encryptionmethod"
    }


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
