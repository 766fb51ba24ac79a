"""A manuscript reads no file but itself, asks no network, and fills no memory."""

from __future__ import annotations

import socket
import struct
import zipfile
from pathlib import Path

import pytest

from pipeline.errors import ManuscriptError
from pipeline.manuscript import archive, read_manuscript
from pipeline.manuscript.reading import Reading

from .build import all_text, epub, opf, page, zip_files
from .word import NAMES, docx, p

PAGES = {"a.xhtml": page("<p>a</p>")}


def refusal(path: Path) -> str:
    with pytest.raises(ManuscriptError) as caught:
        read_manuscript(path)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 1000
    return message


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **named: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


SECRET = "not of the book"


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize(
    "place", ["file://{secret}", "{secret}", "../secret.txt", "http://localhost:1/x", "//localhost/x"]
)
@pytest.mark.parametrize("suffix", [".epub", ".html", ".docx", ".md"])
def test_external_entities_are_empty(tmp_path: Path, place: str, suffix: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text(SECRET)
    place = place.format(secret=secret)
    doctype = f'<!DOCTYPE html [<!ENTITY x SYSTEM "{place}"><!ENTITY % y SYSTEM "{place}"> %y;]>'
    include = f'<p xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{place}" parse="text"/></p>'
    markup = f"{doctype}<html><head/><body><p>a &x; b</p>{include}</body></html>"
    path = tmp_path / f"book{suffix}"
    if suffix == ".epub":
        path = epub(tmp_path, {"a.xhtml": markup})
    elif suffix == ".docx":
        body = f"{doctype}<w:document {NAMES}><w:body>{p('a &x; b')}{include}</w:body></w:document>"
        path = zip_files(tmp_path / "book.docx", {"word/document.xml": body})
    else:
        path.write_text(markup)
    text = all_text(read_manuscript(path))
    assert SECRET not in text
    assert text.startswith("a")


def test_entities_do_not_multiply(tmp_path: Path) -> None:
    entities = '<!ENTITY e0 "lol">' + "".join(
        f'<!ENTITY e{number} "{f"&e{number - 1};" * 10}">' for number in range(1, 30)
    )
    markup = f"<!DOCTYPE html [{entities}]><html><body><p>a &e29; b</p></body></html>"
    assert len(all_text(read_manuscript(epub(tmp_path, {"a.xhtml": markup})))) < 1000
    body = f"<!DOCTYPE x [{entities}]><w:document {NAMES}><w:body>{p('a &e29; b')}</w:body></w:document>"
    assert len(all_text(read_manuscript(zip_files(tmp_path / "b.docx", {"word/document.xml": body})))) < 1000


def test_names_that_lead_out_of_the_archive_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret.xhtml").write_text(page(f"<p>{SECRET}</p>"))
    names = ["../secret.xhtml", str(tmp_path / "secret.xhtml"), f"file://{tmp_path}/secret.xhtml", "a.xhtml"]
    book = read_manuscript(epub(tmp_path, PAGES, package=opf(names)))
    assert all_text(book) == "a"
    relation = (
        '<Relationships><Relationship Id="r" Type="x/officeDocument" Target="../../secret.xhtml"/></Relationships>'
    )
    assert "word/document.xml" in refusal(zip_files(tmp_path / "b.docx", {"_rels/.rels": relation}))


def test_a_name_of_many_lines_in_a_message(tmp_path: Path) -> None:
    name = "a\n\x1b[2J" + "b" * 5000 + ".xhtml"
    path = epub(tmp_path, {name: b"x" * 3_000_000}, package=opf([]))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as book:
        encoded = name.replace("\n", "&#10;").replace("\x1b", "")
        book.writestr("META-INF/encryption.xml", f"<encryption>{encoded}</encryption>")
    assert "spine" in refusal(path)
    assert "\n" not in archive.show(name)
    assert len(archive.show(name)) <= 100


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = epub(tmp_path, PAGES, more={f"{number}": "" for number in range(100)})
    monkeypatch.setattr(archive, "_MAX_MEMBERS", 50)
    assert "more files than any book" in refusal(path)
    monkeypatch.setattr(archive, "_MAX_DIRECTORY_BYTES", 2000)
    assert "more files than any book" in refusal(path)


def test_a_directory_that_lies_about_itself(tmp_path: Path) -> None:
    path = epub(tmp_path, PAGES)
    data = bytearray(path.read_bytes())
    end = data.rfind(b"PK\x05\x06")
    struct.pack_into("<I", data, end + 12, 0xFFFFFFF0)
    path.write_bytes(bytes(data))
    assert "more files than any book" in refusal(path)


def test_a_bomb_in_a_word_document(tmp_path: Path) -> None:
    assert "not safe" in refusal(docx(tmp_path, p("a" * 3_000_000)))


def test_nothing_is_written(tmp_path: Path) -> None:
    more = {"../out.txt": "x", "/tmp/../out.txt": "x", "OPS/../../out.txt": "x"}
    path = epub(tmp_path, PAGES, more=more)
    before = sorted(tmp_path.rglob("*"))
    read_manuscript(path)
    assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "out.txt").exists()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "book.txt")
    assert "is not a file" in refusal(tmp_path / "book.txt")
    (tmp_path / "1.txt").write_text("Words.")
    with pytest.raises(ManuscriptError, match="is not a file"):
        read_manuscript(tmp_path, Reading(as_book=True))
