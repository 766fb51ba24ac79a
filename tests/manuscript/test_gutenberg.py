"""Project Gutenberg's header and licence go, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.manuscript.encoding import decode_text

from .build import all_text, epub, page
from .cover import check_cover

BODY = "CHAPTER I\n\nIt rained.\n\nCHAPTER II\n\nIt stopped.\n\n"
NEW_HEAD = (
    "The Project Gutenberg eBook of A Tale\n\nThis ebook is for anyone.\n\nTitle: A Tale\n        of Rain\n\n"
    "Author: Ann Author\n\nRelease date: May 1, 2008 [eBook #1]\n\nLanguage: French\n\nCredits: Bob\n\n"
    "*** START OF THE PROJECT GUTENBERG EBOOK A TALE ***\n\n\n"
)
OLD_HEAD = (
    "**The Project Gutenberg Etext of A Tale, by Ann Author**\n\nPlease take a look.\n\n"
    "***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nWhy is this here?\n\n"
    "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n\n\n"
)
NEW_TAIL = (
    "*** END OF THE PROJECT GUTENBERG EBOOK A TALE ***\n\nUpdated editions will replace the previous one.\n\n"
    "Section 1. General Terms of Use\n\n1.A. By reading any part of this work.\n"
)
CREDITS = "Produced by Bob Smith and the Online\nDistributed Proofreading Team at https://example.org\n\n\n"


def read(tmp_path: Path, text: str) -> Book:
    path = tmp_path / "book.txt"
    path.write_text(text, encoding="utf-8")
    book = read_manuscript(path)
    check_cover(decode_text(path.read_bytes()), book)
    return book


@pytest.mark.parametrize("head", [NEW_HEAD, NEW_HEAD + CREDITS, OLD_HEAD, OLD_HEAD + CREDITS, ""])
@pytest.mark.parametrize(
    "tail",
    [
        NEW_TAIL,
        "End of Project Gutenberg's A Tale, by Ann Author\n\n" + NEW_TAIL,
        "End of The Project Gutenberg Etext of A Tale\n",
        "",
    ],
)
def test_only_the_book_is_read(tmp_path: Path, head: str, tail: str) -> None:
    book = read(tmp_path, head + BODY + tail)
    assert all_text(book) == "CHAPTER I It rained. CHAPTER II It stopped."
    assert all(left.reason.startswith("Project Gutenberg's") for left in book.left_out)


def test_what_the_header_says_of_the_book(tmp_path: Path) -> None:
    book = read(tmp_path, NEW_HEAD + BODY + NEW_TAIL)
    assert (book.title, book.authors, book.language) == ("A Tale of Rain", ("Ann Author",), "fr")


@pytest.mark.parametrize(
    "quoted",
    [
        "*** START OF THE PROJECT GUTENBERG EBOOK A TALE ***",
        "*** END OF THE PROJECT GUTENBERG EBOOK A TALE ***",
        "End of the Project Gutenberg EBook of A Tale",
        "Produced by Bob Smith",
        "He found a Project Gutenberg book, with *** START OF THE PROJECT GUTENBERG EBOOK *** in it.",
    ],
)
def test_a_text_that_quotes_such_a_line_is_kept(tmp_path: Path, quoted: str) -> None:
    text = f"CHAPTER I\n\nIt rained.\n\n{quoted}\n\nHe read on.\n\nCHAPTER II\n\nIt stopped.\n"
    book = read(tmp_path, text)
    assert quoted in all_text(book)
    assert not any(left.reason.startswith("Project Gutenberg") for left in book.left_out)


def test_a_book_about_project_gutenberg_is_kept(tmp_path: Path) -> None:
    text = "Project Gutenberg was begun in 1971.\n\nIt has many books.\n\nIts books end so.\n"
    assert all_text(read(tmp_path, text)).startswith("Project Gutenberg was begun in 1971.")


HEAD_MARKUP = (
    "<h2>The Project Gutenberg eBook of A Tale</h2><p>For <b>anyone</b>.</p><ul><li>One</li></ul><hr/>"
    "<div>*** START OF THE PROJECT GUTENBERG EBOOK A TALE ***</div>"
)
TAIL_MARKUP = (
    "<div>*** END OF THE PROJECT GUTENBERG EBOOK A TALE ***</div><p>Updated editions will replace the "
    "previous one.</p><h2 id='l'>Section 1</h2><p>By reading.</p>"
)


def test_an_epub(tmp_path: Path) -> None:
    pages = {
        "a.xhtml": page(HEAD_MARKUP),
        "b.xhtml": page("<h1>One</h1><p>It rained.</p>"),
        "c.xhtml": page("<h1>Two</h1><p>It stopped.</p>" + TAIL_MARKUP),
    }
    book = read_manuscript(epub(tmp_path, pages))
    assert all_text(book) == "One It rained. Two It stopped."
    reasons = [left.reason for left in book.left_out if left.reason != "document head"]
    assert reasons == ["Project Gutenberg's header"] * 4 + ["Project Gutenberg's licence"] * 4


def test_a_web_page_and_an_old_one_with_its_header_in_one_element(tmp_path: Path) -> None:
    old = (
        "<pre>The Project Gutenberg EBook of A Tale, by Ann\n\nThis is for anyone.\n\nTitle: A Tale\n\n"
        "*** START OF THIS PROJECT GUTENBERG EBOOK A TALE ***\n\n\nProduced by Bob\n</pre>"
    )
    old_tail = (
        "<pre>\nEnd of the Project Gutenberg EBook of A Tale\n\n*** END OF THIS PROJECT GUTENBERG EBOOK A TALE ***\n\n"
        "***** This file should be named 1-h.htm *****\n\nUpdated editions will replace it.</pre>"
    )
    for head, tail in ((HEAD_MARKUP, TAIL_MARKUP), (old, old_tail)):
        path = tmp_path / "book.html"
        path.write_text(f"<html><body>{head}<h1>One</h1><p>It rained.</p>{tail}</body></html>")
        assert all_text(read_manuscript(path)) == "One It rained."
