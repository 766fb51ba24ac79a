"""Which protection (DRM) an EPUB or a Kindle book has: it is named and refused, and never removed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lxml import etree

from pipeline.errors import ManuscriptError
from pipeline.manuscript.archive import Archive, join_href, show
from pipeline.manuscript.markup import local_name, parse_xml

_FONT_OBFUSCATION = frozenset(["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"])
_SCHEMES = (
    (re.compile(r"readium\.org/\d+/\d+/lcp", re.IGNORECASE), "Readium LCP"),
    (re.compile(r"barnesandnoble|\bbn\.com\b|\bnook\b", re.IGNORECASE), "Barnes & Noble"),
    (re.compile(r"\bkdrm\b|kobo", re.IGNORECASE), "Kobo"),
    (re.compile(r"itunes\.apple\.com|fairplay", re.IGNORECASE), "Apple FairPlay"),
    (re.compile(r"ns\.adobe\.com/(?:adept|digitaleditions)", re.IGNORECASE), "Adobe ADEPT"),
)
_NOT_READ = re.compile(
    r"\.(?:otf|ttf|ttc|woff2?|eot|pfb|dfont|jpe?g|jfif|png|gif|webp|avif|bmp|tiff?|mp3|mp4|m4[abv]|aac|og[gva]|opus|wav"
    r"|webm|flac|css|js|pls|pdf)",
    re.IGNORECASE,
)
_MAX_SCANNED_BYTES = 100_000


def refuse_protected(archive: Archive) -> None:
    """Raises `ManuscriptError` that names the protection of an EPUB, if any lies on what is read of it."""
    scheme = _find_scheme(archive)
    if scheme:
        raise ManuscriptError(
            f"{archive.path} is protected by {scheme} (DRM), which is not removed here; "
            "get a copy without DRM from its publisher or shop."
        )


def _find_scheme(archive: Archive) -> str:
    if archive.find("META-INF/license.lcpl"):
        return "Readium LCP"
    if archive.find("META-INF/sinf.xml"):
        return "Apple FairPlay"
    if rights := archive.find("META-INF/rights.xml"):
        data = archive.read(rights)
        root = parse_xml(data)
        if data.strip() and (
            root is None or len(root.findall("*")) or (root.text or "").strip()
        ):  # an empty one grants nothing
            return _named_in(data) or "Adobe ADEPT"
    encryption = archive.find("META-INF/encryption.xml")
    data = archive.read(encryption) if encryption else b""
    root = parse_xml(data)
    algorithms = sorted(set(_algorithms_on_text(root, archive)) - _FONT_OBFUSCATION) if root is not None else []
    if not algorithms:
        return ""
    return _named_in(data) or f"encryption of an unknown kind ({show(algorithms[0])})"


def _named_in(data: bytes) -> str:
    text = data[:_MAX_SCANNED_BYTES].decode("latin-1")
    return next((scheme for pattern, scheme in _SCHEMES if pattern.search(text)), "")


def _algorithms_on_text(root: etree._Element, archive: Archive) -> Iterator[str]:
    """How each member that is read is encrypted. A reference that leads nowhere covers nothing."""
    for encrypted in root.iter("{*}EncryptedData"):
        methods = [method for method in encrypted if local_name(method) == "encryptionmethod"]
        algorithm = next((method.get("Algorithm") for method in methods), None) or "no algorithm named"
        references = [
            reference.get("URI") or ""
            for reference in encrypted.iter("*")
            if local_name(reference) == "cipherreference"
        ]
        if not references or any(_is_read(reference, archive) for reference in references):
            yield algorithm


def _is_read(reference: str, archive: Archive) -> bool:
    joined = join_href("", reference)
    name = archive.find(joined[0]) if joined else None
    return name is not None and not _NOT_READ.fullmatch("." + name.rpartition(".")[2])


def is_kindle_protected(data: bytes) -> bool:
    """Whether the beginning of a Kindle file says that it is encrypted."""
    if data[:8] == b"\xeaDRMION\xee" or data[:3] == b"TPZ":
        return True
    first = int.from_bytes(data[78:82], "big")
    return data[60:68] == b"BOOKMOBI" and data[first + 12 : first + 14] in (b"\0\1", b"\0\2")
