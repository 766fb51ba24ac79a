"""A folder of manuscripts as one book."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.errors import ManuscriptError
from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.manuscript.reading import Reading
from tests.conftest import Ran

from .build import PNG, all_blocks, epub, page, titles
from .word import docx, p


def write(folder: Path, *names: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / name).write_text("It rained all night.\n", encoding="utf-8")
    return folder


def read(folder: Path) -> Book:
    return read_manuscript(folder, Reading(as_book=True))


def refusal(folder: Path) -> str:
    with pytest.raises(ManuscriptError) as caught:
        read(folder)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "names",
    [
        ["1", "2", "10"],
        ["chapter 1", "chapter 2", "chapter 10"],
        ["Chapter One", "Chapter Two", "Chapter Three", "Chapter Twenty-One"],
        ["Chapter IV", "Chapter V", "Chapter IX"],
        ["I", "V", "IX", "X"],
        ["Dedication", "Prologue", "Chapter 1", "Chapter 2", "Epilogue", "About the Author"],
        ["00 Epilogue of Old", "01 Prologue", "02 b", "03 a"],
        ["part 1 chapter 2", "part 1 chapter 10", "part 2 chapter 1"],
        [
            "Copyright Page",
            "Foreword by Ann",
            "The Prologue",
            "Chapter 1",
            "Epilogue - Home",
            "Appendix 1",
            "Appendix 2",
        ],
        ["Prologue - The Storm", "1 - Start", "1.5 - Middle", "1.10", "2 - End", "Cover of Night", "Epilogue"],
        ["a", "b", "c"],
    ],
)
def test_files_come_as_people_count(tmp_path: Path, names: list[str]) -> None:
    folder = write(tmp_path / "My_Book", *(f"{name}.txt" for name in reversed(names)))
    book = read(folder)
    assert [block.span.file for block in all_blocks(book)] == [f"{name}.txt" for name in names]
    assert [chapter.index for chapter in book.chapters] == list(range(1, len(names) + 1))
    assert book.title == "My Book"


def test_a_number_of_the_order_is_no_title(tmp_path: Path) -> None:
    assert titles(read(write(tmp_path / "book", "1.5 - The Well.txt", "² Miles.txt"))) == ["The Well", "² Miles"]


def test_all_formats_and_their_chapters_in_turn(tmp_path: Path) -> None:
    folder = write(tmp_path / "book", "2 - The_Storm.txt")
    epub(folder, {"a.xhtml": page("<h1>One</h1><p>a</p>"), "b.xhtml": page("<h1>Two</h1><p>b</p>")})
    (folder / "book.epub").rename(folder / "1.epub")
    (folder / "3.md").write_text("# Three\n\nc\n\n# Four\n\nd\n")
    (folder / "4.html").write_text("<h1>Five</h1><p>e</p>")
    docx(folder, p("Six", style="H1") + p("f"))
    (folder / "book.docx").rename(folder / "5.docx")
    book = read(folder)
    assert titles(book) == ["One", "Two", "The Storm", "Three", "Four", "Five", "Six"]
    assert all_blocks(book)[0].span.file == "1.epub/OPS/a.xhtml"


def test_what_is_skipped_is_listed(tmp_path: Path) -> None:
    folder = write(tmp_path / "book", "1.txt", ".hidden.txt", "~$1.docx", "song.mp3")
    (folder / "Cover.PNG").write_bytes(PNG)
    (folder / "notes").mkdir()
    book = read(folder)
    assert len(book.chapters) == 1
    assert book.notes == ("Not read, for they are no manuscripts: .hidden.txt, notes, song.mp3, ~$1.docx.",)
    assert book.cover is not None
    assert book.cover.data == PNG


def test_what_can_not_be_read_is_an_error(tmp_path: Path) -> None:
    folder = write(tmp_path / "book", "1.txt")
    (folder / "2.txt").write_bytes(b"")
    assert "2.txt is empty" in refusal(folder)
    (folder / "2.txt").unlink()
    (folder / "3.pdf").write_bytes(b"%PDF-")
    assert "3.pdf is a PDF" in refusal(folder)


def test_folders_that_are_no_book(tmp_path: Path) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    assert "no manuscript in it" in refusal(folder)
    write(folder, "1.txt", "1.md")
    assert "two formats" in refusal(folder)
    with pytest.raises(ManuscriptError, match="--as-book"):
        read_manuscript(folder)
    assert "leave out --as-book" in refusal(folder / "1.txt")


def test_a_link_that_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "book", "1.txt")
    outside = tmp_path / "secret.txt"
    outside.write_text("Secret.")
    (folder / "2.txt").symlink_to(outside)
    assert "leads out of the folder" in refusal(folder)
    (folder / "2.txt").unlink()
    (folder / "2.txt").symlink_to(folder / "1.txt")
    assert len(read(folder).chapters) == 2


def test_the_flag_and_the_key(tmp_path: Path, command: Callable[..., Ran]) -> None:
    folder = write(tmp_path / "My Book", "1.txt", "2.txt")
    ran = command("plan", folder, "--as-book", "--voice", "tone")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "My Book (en)")
    assert "--as-book" in command("plan", folder, "--voice", "tone").err
    job = tmp_path / "job.yaml"
    job.write_text("books:\n  - source: My Book\n    as_book: true\n    voice: tone\n")
    assert command("plan", job).code == 0
    job.write_text("books:\n  - source: My Book\n    voice: tone\n")
    ran = command("plan", job)
    assert ran.code == 4
    assert "--as-book" in ran.err
