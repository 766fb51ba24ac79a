"""Plain text: paragraphs, headings, breaks, spans."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.plain import read_plain
from pipeline.manuscript.reading import Notes, Reading
from tests.broken import soup

from .build import all_blocks, texts, titles
from .cover import check_cover


def read(tmp_path: Path, text: str, encoding: str = "utf-8") -> Book:
    path = tmp_path / "book.txt"
    path.write_bytes(text.encode(encoding))
    book = read_manuscript(path)
    check_cover(decode_text(path.read_bytes()), book)
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


def test_lines_that_end_in_a_hyphen(tmp_path: Path) -> None:
    text = (
        "The light-\nhouse was a lighthouse, a well-\nknown one, and two-\nor three-\nfold; twenty-\n1 or\u00ad\n"
        "dered it--\nand left.\n\nNext.\n"
    )
    assert texts(read(tmp_path, text).chapters[0])[0] == (
        "The lighthouse was a lighthouse, a well-known one, and two- or three-fold; twenty-1 ordered it-- and left."
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("THE FIRST DAY\n\nIt rained.\n\nTHE SECOND DAY\n\nIt stopped.\n", ["THE FIRST DAY", "THE SECOND DAY"]),
        ("The Storm\n\nIt rained.\n\n\nThe Calm after It\n\nIt stopped.\n", ["The Storm", "The Calm after It"]),
        ("The storm\n=========\n\nIt rained.\n\nThe calm\n========\nIt stopped.\n", ["The storm", "The calm"]),
        ("The storm\n---------\nIt rained.\n\nThe calm\n--------\n\nIt stopped.\n", ["The storm", "The calm"]),
        ("1. The Storm\n\nIt rained.\n\n2. The Calm\n\nIt stopped.\n", ["1. The Storm", "2. The Calm"]),
        ("Chapter 1: Storm\nIt rained.\n\nChapter 2: Calm\nIt stopped.\n", ["Chapter 1: Storm", "Chapter 2: Calm"]),
        ("A BOOK\n\nAnn Author\n\nTHE STORM\n\nIt rained.\n\nTHE CALM\n\nSo.\n", ["A BOOK", "THE STORM", "THE CALM"]),
        (
            "CHAPTER I. IN WHICH A STORM\nCOMES UP FROM THE SEA\n\nIt rained.\n\nCHAPTER II. THE CALM\n\nIt stopped.\n",
            ["CHAPTER I. IN WHICH A STORM COMES UP FROM THE SEA", "CHAPTER II. THE CALM"],
        ),
    ],
)
def test_headings_without_the_word_chapter(tmp_path: Path, text: str, expected: list[str]) -> None:
    assert titles(read(tmp_path, text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "On the bottle stood:\n\nDRINK ME\n\nShe drank.\n\nOn the cake stood:\n\nEAT ME\n\nShe ate.\n",
        "I remain,\n\nJohn Smith\n\nThe letter ended so.\n\nYours,\n\nAnn Jones\n\nSo did this one.\n",
        "He told of\n\nTHE WAR\n\nand of\n\nTHE PEACE\n\nand slept.\n",
        "“NO!”\n\nShe ran.\n\n“YES!”\n\nHe ran.\n\nTHE END\n",
        "Rain, rain.\n\nAnn Smith\n\nBob Jones\n\nCarl Brown\n\nThey all came.\n",
    ],
)
def test_lines_set_apart_that_are_no_headings(tmp_path: Path, text: str) -> None:
    assert not any(line.startswith("heading") for line in shown(read(tmp_path, text)))


def test_capitals_do_not_divide_what_chapters_divide(tmp_path: Path) -> None:
    text = "Chapter 1\n\nIt rained.\n\nA LETTER\n\nDear Ann.\n\nA REPLY\n\nDear Bob.\n\nChapter 2\n\nIt stopped.\n"
    book = read(tmp_path, text)
    assert titles(book) == ["Chapter 1", "Chapter 2"]
    assert "heading: A REPLY" in shown(book)


@pytest.mark.parametrize(
    "contents",
    [
        "CONTENTS\n\nCHAPTER I. The Storm\nCHAPTER II. The Calm\nCHAPTER III. The End of It\n",
        "Contents\n\n  Chapter I. The Storm ....... 3\n  Chapter II. The Calm ....... 15\n  The End of It     27\n",
        "CONTENTS.\n\nCHAPTER                PAGE\n\n  I. The Storm\n\n  II. The Calm\n\n  III. The End of It\n",
        "CHAPTER I. The Storm\n\nCHAPTER II. The Calm\n\nCHAPTER III. The End of It\n",
        "CHAPTER I. The Storm\nCHAPTER II. The Calm\nCHAPTER III. The End of It\n",
    ],
)
def test_a_list_of_contents_is_no_chapters(tmp_path: Path, contents: str) -> None:
    body = (
        "CHAPTER I. The Storm\n\nIt rained.\n\nCHAPTER II. The Calm\n\nIt stopped.\n\n"
        "CHAPTER III. The End of It\n\nThey slept.\n"
    )
    book = read(tmp_path, f"A BOOK\n\n{contents}\n\n{body}")
    chapters = ["CHAPTER I. The Storm", "CHAPTER II. The Calm", "CHAPTER III. The End of It"]
    assert titles(book) == ["A BOOK", *chapters]
    assert {left.reason for left in book.left_out} == {"table of contents"}
    assert texts(book.chapters[1]) == ["CHAPTER I. The Storm", "It rained."]


def test_a_second_chapter_1_in_the_contents(tmp_path: Path) -> None:
    listed = "PART ONE\nChapter 1\nChapter 2\nPART TWO\nChapter 1\nChapter 2\n"
    body = "PART ONE\n\nChapter 1\n\na.\n\nChapter 2\n\nb.\n\nPART TWO\n\nChapter 1\n\nc.\n\nChapter 2\n\nd.\n"
    book = read(tmp_path, f"CONTENTS\n\n{listed}\n\n{body}")
    assert [texts(chapter) for chapter in book.chapters] == [
        ["PART ONE", "Chapter 1", "a."],
        ["Chapter 2", "b."],
        ["PART TWO", "Chapter 1", "c."],
        ["Chapter 2", "d."],
    ]


def test_a_chapter_called_contents_is_read_on(tmp_path: Path) -> None:
    book = read(tmp_path, "The contents\n\nof the box were\nred and blue.\n\nI took them.\n")
    assert [line.partition(":")[0] for line in shown(book)] == ["paragraph"] * 3


PROSE = "It was a long way down to the water, and the wind was cold, so that\nnobody went there after dark.\n"


def test_verse_is_kept_by_lines(tmp_path: Path) -> None:
    verse = "    The tide comes in,\n      The tide goes out,\n    And who would know\n      What it's about?\n"
    book = read(tmp_path, f"{PROSE}\n{verse}\n    A second one,\n    Of two lines.\n\n{PROSE}")
    lines = [(block.text, block.continues) for block in all_blocks(book) if block.kind == "verse"]
    assert lines == [
        ("The tide comes in,", False),
        ("The tide goes out,", True),
        ("And who would know", True),
        ("What it's about?", True),
        ("A second one,", False),
        ("Of two lines.", True),
    ]


def test_a_letter_set_in_is_prose(tmp_path: Path) -> None:
    letter = (
        "    My dear friend, I have to tell you that the house is sold and\n    that the dog has gone to live with"
        " the baker, who wanted one\n    for a long time, and is glad of it.\n"
    )
    book = read(tmp_path, f"{PROSE}\n{letter}\n{PROSE}")
    assert len(all_blocks(book)) == 3


def test_verse_without_an_indent(tmp_path: Path) -> None:
    verse = "The tide comes in,\nThe tide goes out,\nAnd who would know\nWhat it is about?\n"
    book = read(tmp_path, f"{PROSE}\n{verse}\n{PROSE}")
    assert [block.kind for block in all_blocks(book)] == ["paragraph", *["verse"] * 4, "paragraph"]


def test_a_wide_gap_is_a_change_of_scene(tmp_path: Path) -> None:
    book = read(tmp_path, "One.\n\nTwo.\n\nThree.\n\n\n\nFour.\n\nFive.\n")
    assert shown(book)[3] == "break: "


def test_marks_between_paragraphs_are_no_change_of_scene(tmp_path: Path) -> None:
    for mark in ("[Illustration: A hill.]", "[Pg 12]", "[Footnote 1: Or so it\nis said.]"):
        book = read(tmp_path, f"One.\n\nTwo.\n\n{mark}\n\nThree.\n\nFour.\n\n\n\n{mark}\n\nFive.\n")
        assert [block.text for block in all_blocks(book)] == ["One.", "Two.", "Three.", "Four.", "", "Five."]


def test_marks_of_a_transcriber(tmp_path: Path) -> None:
    text = (
        "It was a _very_ =long= day[Pg 12] for snake_case and an[Pg 13]other,\n[Illustration: A day. [By Ann]]\n"
        "and ____ too.\n\n[Illustration]\n\n_All of this_\n_is set in italics._\n"
    )
    book = read(tmp_path, text)
    assert texts(book.chapters[0]) == [
        "It was a very long day for snake_case and another,",
        "and ____ too.",
        "All of this is set in italics.",
    ]
    assert {left.reason for left in book.left_out} == {"page number", "picture description", "mark of emphasis"}


def test_a_page_ends_in_the_middle_of_a_sentence(tmp_path: Path) -> None:
    for between in ("\n12\n\n", "\f\n", "\n[Pg 12]\n\n", "\n  12\n\f\n"):
        book = read(tmp_path, f"They went on and\n{between}the page was turned.\n\nNext.\n")
        blocks = all_blocks(book)
        assert [block.text for block in blocks] == ["They went on and", "the page was turned.", "Next."]
        assert [block.continues for block in blocks] == [False, True, False]


@pytest.mark.parametrize("notes", ["skip", "inline", "end"])
def test_no_character_of_any_text_is_lost(notes: Notes) -> None:
    for seed in range(60):
        chance = random.Random(seed)
        parts = [soup(chance)[:300] for _ in range(chance.randint(1, 12))]
        text = decode_text("\n\n".join(parts).encode("utf-8", "replace"))
        check_cover(text, read_plain("book.txt", text.encode(), Reading(notes)))


NOTED = (
    "Chapter 1\n\nHe came[1] late[2].\n\n[Footnote 1: By the _road_.]\n\nHe sat.\n\nSee [15] for it.\n\nChapter 2\n\n"
    "He went.\n\n[Footnote 2: At ten.]\n"
)


@pytest.mark.parametrize(
    ("notes", "expected"),
    [
        ("skip", [["He came late.", "He sat.", "See [15] for it."], ["He went."]]),
        ("inline", [["He came late.", "By the road.", "At ten.", "He sat.", "See [15] for it."], ["He went."]]),
        ("end", [["He came late.", "He sat.", "See [15] for it.", "By the road.", "At ten."], ["He went."]]),
    ],
)
def test_footnotes(tmp_path: Path, notes: Notes, expected: list[list[str]]) -> None:
    path = tmp_path / "book.txt"
    path.write_text(NOTED)
    book = read_manuscript(path, Reading(notes))
    check_cover(NOTED, book)
    assert [texts(chapter)[1:] for chapter in book.chapters] == expected
