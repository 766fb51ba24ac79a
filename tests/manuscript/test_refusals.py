"""What is refused, and that it is said in one sentence with the file's name."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

import pytest

from pipeline.errors import ManuscriptError
from pipeline.manuscript import archive, read_manuscript

from .build import all_text, epub, opf, page, zip_files

PAGES = {"a.xhtml": page("<p>a</p>")}


def refusal(path: Path) -> str:
    with pytest.raises(ManuscriptError) as caught:
        read_manuscript(path)
    message = str(caught.value)
    assert path.name in message
    assert message.endswith(".")
    assert "\n" not in message
    return message


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.pdf", b"%PDF-1.7", "convert it to EPUB"),
        ("a.docx", b"PK\x03\x04", "cut short or damaged"),
        ("a.mobi", b"BOOKMOBI", "Kindle book; convert it to EPUB"),
        ("a.azw3", bytes(60) + b"BOOKMOBI" + bytes(10) + b"\0\0\0\x60" + bytes(32), "Kindle book; convert it"),
        ("a.azw3", bytes(60) + b"BOOKMOBI" + bytes(10) + b"\0\0\0\x60" + bytes(26) + b"\0\2", "Amazon's DRM"),
        ("a.azw", b"TPZ0" + bytes(40), "Amazon's DRM"),
        ("a.kfx", b"\xeaDRMION\xee" + bytes(40), "Amazon's DRM"),
        ("a.kfx", b"CONT" + bytes(40), "Kindle book"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as .docx"),
        ("a.rtf", b"{\\rtf1 x}", "save it as .docx"),
        ("a.odt", b"PK\x03\x04", "save it as .docx"),
        ("a.acsm", b"<fulfillmentToken/>", "a ticket"),
        ("a.xyz", b"words", "suffix"),
        ("a", b"words", "suffix"),
        ("a.epub", b"Just some words.", "not an EPUB"),
        ("a.epub", b"%PDF-1.7", "but a PDF"),
        ("a.epub", b"PK\x03\x04 and then nothing", "not an EPUB"),
        ("a.txt", b"", "is empty"),
        ("a.epub", b"", "is empty"),
        ("a.txt", b" \t\r\n \n", "white space"),
        ("a.txt", bytes(range(256)), "binary"),
        ("a.txt", b"PK\x03\x04" + bytes(40), "zip archive"),
        ("a.txt", b"%PDF-1.7 text", "a PDF"),
        ("a.txt", b"* * *\n", "nothing to say"),
        ("a.md", b"<!-- only this -->\n", "nothing to say"),
        ("a.html", b"<html><body><img src='x'></body></html>", "nothing to say"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    assert words in refusal(write(tmp_path / name, data))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "doesn't exist" in refusal(tmp_path / "gone.epub")


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "book.epub").mkdir()
    assert "folder" in refusal(tmp_path / "book.epub")


ENCRYPTED = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" '
    'xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:EncryptionMethod Algorithm="{}"/>'
    '<enc:CipherData><enc:CipherReference URI="OPS/a.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>'
)


AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
ADEPT = '<resource xmlns="http://ns.adobe.com/adept">urn:uuid:1</resource>'
LCP = '<RetrievalMethod Type="http://readium.org/2014/01/lcp#EncryptedContentKey"/>'


def keyed(info: str, algorithm: str = AES) -> str:
    """An encryption.xml whose key is described by `info`."""
    return ENCRYPTED.format(algorithm).replace("<enc:CipherData>", f"<KeyInfo>{info}</KeyInfo><enc:CipherData>")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"META-INF/encryption.xml": keyed(ADEPT)}, "Adobe ADEPT"),
        ({"META-INF/encryption.xml": keyed(LCP)}, "Readium LCP"),
        ({"META-INF/encryption.xml": keyed("", "http://itunes.apple.com/dataenc")}, "Apple FairPlay"),
        ({"META-INF/rights.xml": "<rights><o>http://x.barnesandnoble.com</o></rights>"}, "Barnes & Noble"),
        ({"META-INF/rights.xml": "<kdrm><keys/></kdrm>"}, "Kobo"),
        ({"META-INF/encryption.xml": ENCRYPTED.format("x\ny").replace("CipherReference", "X")}, "an unknown kind"),
        ({"META-INF/rights.xml": "<rights><licenseToken/></rights>"}, "Adobe ADEPT"),
        ({"META-INF/license.lcpl": "{}"}, "Readium LCP"),
        ({"META-INF/sinf.xml": "<sinf/>"}, "Apple FairPlay"),
        ({"META-INF/encryption.xml": ENCRYPTED.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")}, "aes128"),
    ],
)
def test_protection_is_named(tmp_path: Path, more: dict[str, str], words: str) -> None:
    message = refusal(epub(tmp_path, PAGES, more=more))
    assert words in message
    assert "DRM" in message


@pytest.mark.parametrize("algorithm", ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"])
def test_obfuscated_fonts_are_no_protection(tmp_path: Path, algorithm: str) -> None:
    path = epub(tmp_path, PAGES, more={"META-INF/encryption.xml": ENCRYPTED.format(algorithm)})
    assert all_text(read_manuscript(path)) == "a"


@pytest.mark.parametrize("member", ["OPS/font.ttf", "OPS/cover.jpg", "OPS/gone.xhtml", "../a.xhtml"])
def test_encryption_of_what_is_not_read_is_no_reason_to_refuse(tmp_path: Path, member: str) -> None:
    encrypted = ENCRYPTED.format(AES).replace("OPS/a.xhtml", member)
    more = {"META-INF/encryption.xml": encrypted, "OPS/font.ttf": "x", "OPS/cover.jpg": "x"}
    assert all_text(read_manuscript(epub(tmp_path, PAGES, more=more))) == "a"


def test_files_about_rights_that_say_nothing_are_no_protection(tmp_path: Path) -> None:
    more = {"META-INF/rights.xml": "<?xml version='1.0'?>\n<rights/>", "META-INF/encryption.xml": "<encryption/>"}
    assert all_text(read_manuscript(epub(tmp_path, PAGES, more=more))) == "a"


def test_what_lies_before_a_zip_archive_is_no_reason_to_refuse(tmp_path: Path) -> None:
    path = epub(tmp_path, PAGES)
    assert all_text(read_manuscript(write(path, b"A line from a mail.\n" + path.read_bytes()))) == "a"


def test_a_zip_without_a_package(tmp_path: Path) -> None:
    assert "no package file" in refusal(zip_files(tmp_path / "a.epub", {"word/document.xml": "<w/>"}))


def test_a_spine_without_text(tmp_path: Path) -> None:
    assert "spine" in refusal(epub(tmp_path, PAGES, package=opf(["a.xhtml"], spine=[])))


def test_a_book_without_words(tmp_path: Path) -> None:
    assert "nothing to say" in refusal(epub(tmp_path, {"a.xhtml": page("<hr/><img src='x'/>")}))


def test_members_locked_with_a_password(tmp_path: Path) -> None:
    path = epub(tmp_path, PAGES)
    data = bytearray(path.read_bytes())
    start = 0
    while (start := data.find(b"PK\x01\x02", start)) >= 0:  # the flags in each entry of the central directory
        data[start + 8] |= 1
        start += 4
    assert "password" in refusal(write(path, bytes(data)))


def test_a_damaged_member(tmp_path: Path) -> None:
    path = zip_files(tmp_path / "a.epub", {})
    with zipfile.ZipFile(epub(tmp_path, PAGES)) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name))
    data = path.read_bytes().replace(b"<p>a</p>", b"<p>b</p>")  # stored, so the checksum no longer holds
    message = refusal(write(path, data))
    assert "damaged" in message
    assert "OPS/a.xhtml" in message


def test_a_zip_bomb(tmp_path: Path) -> None:
    assert "not safe" in refusal(epub(tmp_path, {"a.xhtml": page("<p>" + "a" * 2_000_000 + "</p>")}))


def test_a_zip_bomb_that_lies_about_its_size(tmp_path: Path) -> None:
    path = epub(tmp_path, {"a.xhtml": page("<p>" + "a" * 2_000_000 + "</p>")})
    data = bytearray(path.read_bytes())
    entry = data.rfind(b"PK\x01\x02")
    struct.pack_into("<I", data, entry + 24, 1000)
    refusal(write(path, bytes(data)))


def test_the_unpacked_size_is_bounded_in_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_MAX_TOTAL_BYTES", 2000)
    pages = {f"{number}.xhtml": page(f"<p>{'words ' * 50}</p>") for number in range(9)}
    assert "not safe" in refusal(epub(tmp_path, pages))


def test_a_document_nested_too_deep(tmp_path: Path) -> None:
    message = refusal(epub(tmp_path, {"a.xhtml": page("<object>" * 5000 + "deep" + "</object>" * 5000)}))
    assert "a.xhtml" in message
    assert "deep" in message
