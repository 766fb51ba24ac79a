"""Plain text: paragraphs, headings, breaks, spans."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.prose import clean

from .build import all_blocks, titles


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> Book:
    path = tmp_path / "book.txt"
    path.write_bytes(text.encode(encoding))
    book = read_manuscript(path)
    whole = decode_text(path.read_bytes())
    for block in all_blocks(book):
        source = clean(whole[block.span.start : block.span.end])
        assert source == block.text or not block.text
    return book


def shown(book: Book) -> list[str]:
    return [f"{block.kind}: {block.text}" for block in all_blocks(book)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_wrapped_lines_become_paragraphs(tmp_path: Path, encoding: str) -> None:
    book = read(tmp_path, "The café was\r\nopen  all\r\nnight.\r\n\r\n“Come in.”\r\n", encoding)
    assert shown(book) == ["paragraph: The café was open all night.", "paragraph: “Come in.”"]


def test_headings_divide(tmp_path: Path) -> None:
    text = (
        "A TALE\n\nby Ann\n\nPROLOGUE\n\nRain.\n\nPart Two\n\nCHAPTER IV\nThe Long Road\n\nIt was\nlate.\n\n"
        "Chapter Twenty-One: Home\n\nEnd.\n\n7\n\nMore.\n\nXII.\n\nLast.\n"
    )
    book = read(tmp_path, text)
    assert titles(book) == ["A TALE", "PROLOGUE", "CHAPTER IV", "Chapter Twenty-One: Home", "7", "XII."]
    assert [block.text for block in book.chapters[2].blocks] == [
        "Part Two",
        "CHAPTER IV",
        "The Long Road",
        "It was late.",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "I\nwent out.\n\nNext.\n",
        "1815\nwas a year.\n\nNext.\n",
        "It was told in\nChapter 3 was long and\nfull.\n\nNext.\n",
        "Chapter and verse\n\nNext.\n",
        "The words went on and\n\n12\n\nthe page was turned.\n",
        "Part of the way was dark.\n\nNext.\n",
        "Vi\n\nNext.\n",
    ],
)
def test_what_is_no_heading(tmp_path: Path, text: str) -> None:
    assert all(line.startswith("paragraph") for line in shown(read(tmp_path, text)))


def test_ornaments_are_breaks(tmp_path: Path) -> None:
    book = read(tmp_path, "One.\n\n   *   *   *\n\nTwo.\n-----\nThree.\n")
    assert shown(book) == ["paragraph: One.", "break: ", "paragraph: Two.", "break: ", "paragraph: Three."]


def test_one_sentence_a_line(tmp_path: Path) -> None:
    text = "".join(f"Sentence number {number} is here.\n" for number in range(1050))
    assert len(all_blocks(read(tmp_path, text))) == 1050


def test_one_long_line_a_paragraph(tmp_path: Path) -> None:
    line = "word " * 60
    assert len(all_blocks(read(tmp_path, f"{line}\n{line}\n\n{line}\n"))) == 3


def test_indented_paragraphs_without_blank_lines(tmp_path: Path) -> None:
    book = read(tmp_path, "  One goes\non and on.\n  Two goes\non\nand on.\n")
    assert shown(book) == ["paragraph: One goes on and on.", "paragraph: Two goes on and on."]


def test_a_stray_nul_is_no_reason_to_refuse(tmp_path: Path) -> None:
    assert shown(read(tmp_path, "Hello\0 world, and good day.\n")) == ["paragraph: Hello world, and good day."]
