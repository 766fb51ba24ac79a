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
        ("a.mobi", b"BOOKMOBI", "convert it to EPUB"),
        ("a.azw3", b"BOOKMOBI", "convert it to EPUB"),
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


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"META-INF/rights.xml": "<rights/>"}, "Adobe ADEPT"),
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
    message = refusal(epub(tmp_path, {"a.xhtml": page("<div>" * 5000 + "deep" + "</div>" * 5000)}))
    assert "a.xhtml" in message
    assert "deep" in message
