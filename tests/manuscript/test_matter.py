"""What front and back matter is known, by what, and what is heard of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book

from .build import epub, kept_titles, lines, nav, opf, page

PROSE = "<p>" + "It was a long road and nobody knew where it went, nor cared to ask. " * 60 + "</p>"
LINKS = "".join(f"<p><a href='c{number}.xhtml'>Chapter {number}: A Name</a></p>" for number in range(1, 6))
RIGHTS = "<p>Copyright © 2020 Ann Author</p><p>All rights reserved.</p><p>ISBN 978-0-00-000000-2</p>"


def read(folder: Path, title: str, body: str, attributes: str = "", where: int = 0) -> Book:
    """A book of two long chapters, with a page before, between or after them."""
    names = ["c1.xhtml", "c2.xhtml"]
    names.insert(where, "x.xhtml")
    pages = {name: page(f"<h2>{name[1]}</h2>{PROSE}") for name in names} | {"x.xhtml": page(body, attributes)}
    known = {"c1.xhtml": "One", "c2.xhtml": "Two", "x.xhtml": title}
    entries = lines(*((known[name], name) for name in names))
    return read_manuscript(epub(folder, {**pages, "nav.xhtml": nav(entries)}, package=opf(["nav.xhtml", *names])))


@pytest.mark.parametrize(
    ("title", "body", "attributes", "reason"),
    [
        ("Page", RIGHTS, "", "copyright page, by its text"),
        (
            "X",
            "<p>No part of this book may be copied.</p><p>First published in 1999</p>",
            "",
            "copyright page, by its text",
        ),
        (
            "Page",
            RIGHTS + "<p>This is a work of fiction. Any resemblance to persons, living or dead, is coincidental.</p>"
            "<p>Requests for permission should be sent to the publisher at the address that is given below.</p>"
            "<p>12 Harbour Street</p>",
            "",
            "copyright page, by its text",
        ),
        ("Page", LINKS, "", "table of contents, by its text"),
        ("Page", "<h1>A Book</h1><p>by</p><p>Ann Author</p>", "", "title page, by its text"),
        ("Page", "<h1>A Book</h1>", "", "half title page, by its text"),
        ("Also by Ann Author", "<p>The First</p><p>The Second</p>", "", "advertisement, by its title"),
        ("Page", "<h2>By the same author</h2><p>The First</p>", "", "advertisement, by its text"),
        ("Page", "<p>Sign up for my newsletter!</p>", "", "advertisement, by its text"),
        ("List of Illustrations", "<p>A map, 3</p>", "", "list of illustrations, by its title"),
        ("Page", "<p>a</p>", "epub:type='loi'", "list of illustrations, by its type"),
        ("Page", "<p>a</p>", "role='doc-colophon'", "colophon, by its type"),
        ("Uncopyright", "<p>Free.</p>", "", "uncopyright, by its title"),
        ("Cover", "<p>A Book</p>", "", "cover, by its title"),
        ("INDEX.", "<p>apples, 3</p><p>pears, 4</p>", "", "index, by its title"),
        (
            "Index",
            "<p>Harbour, its walls and towers, 12, 14, 20, 22; its master, 30.</p>" * 9,
            "",
            "index, by its title",
        ),
        (
            "Contents",
            "<p>One. In which we meet the harbour master and his dog. 12</p>" * 9,
            "",
            "table of contents, by its title",
        ),
    ],
)
def test_what_is_not_heard(tmp_path: Path, title: str, body: str, attributes: str, reason: str) -> None:
    chapter = read(tmp_path, title, body, attributes).chapters[0]
    assert (chapter.kept, chapter.reason) == (False, reason)
    assert chapter.matter == reason.partition(",")[0]


@pytest.mark.parametrize(
    ("title", "body", "attributes", "matter"),
    [
        ("Dedication", "<p>To you.</p>", "", "dedication"),
        ("Page", "<p>To you.</p>", "epub:type='dedication'", "dedication"),
        ("Page", "<p>To you.</p>", "role='doc-epigraph'", "epigraph"),
        ("Foreword", PROSE + RIGHTS, "", "foreword"),
        ("About the Author", "<p>Ann writes.</p>", "", "about the author"),
        ("Acknowledgements", "<p>Thanks.</p>", "", "acknowledgments"),
        ("Prologue", PROSE, "", "prologue"),
        ("Page", PROSE, "epub:type='appendix'", "appendix"),
        ("Bibliography", "<p>A. Writer. A Work.</p>", "", "bibliography"),
        # What only seems to be front matter is read.
        ("Cover", PROSE * 4, "", ""),
        ("Contents", PROSE, "", ""),
        ("Page", PROSE, "epub:type='cover'", "cover"),
        ("Page", PROSE * 4, "epub:type='cover'", ""),
        ("Page", PROSE + RIGHTS, "", ""),
        (
            "Page",
            "<p>The ISBN, he said, is a number that nobody knows by heart, and copyright is no better.</p>",
            "",
            "",
        ),
        ("Page", "<p>A Book</p><p>A night in June</p>", "", ""),
        ("I", "<p>I</p><p>Go on.</p><p>No.</p><p>Why?</p>", "", ""),
        ("Index", "<p>He lifted a finger, and the whole table fell silent at once.</p>" * 9, "", ""),
        ("Cover", "<p>They ran for cover as the first shots came down the hill.</p>" * 40, "", ""),
        (
            "Rights",
            RIGHTS[:60]
            + "<p>“All rights reserved,” said the publisher, who was fond of the phrase.</p>"
            + "<p>It had begun to rain, and the street emptied slowly.</p>" * 9,
            "",
            "",
        ),
        ("Also by train", "<p>We went.</p>", "", ""),
        ("Page", f"<p>Go to <a href='c1.xhtml'>one</a>, and so on.</p>{PROSE}", "", ""),
    ],
)
def test_what_is_heard(tmp_path: Path, title: str, body: str, attributes: str, matter: str) -> None:
    chapter = read(tmp_path, title, body, attributes).chapters[0]
    assert (chapter.kept, chapter.matter) == (matter != "cover", matter)


@pytest.mark.parametrize(
    ("title", "body"), [("Page", RIGHTS), ("Page", LINKS), ("Page", "<p>A Book</p>"), ("Cover", "<p>x</p>")]
)
def test_between_chapters_nothing_is_dropped_but_by_its_type(tmp_path: Path, title: str, body: str) -> None:
    assert read(tmp_path, title, body, where=1).chapters[1].kept
    assert not read(tmp_path, title, body, "epub:type='toc'", where=1).chapters[1].kept


def test_back_matter(tmp_path: Path) -> None:
    assert read(tmp_path, "Page", RIGHTS, where=2).chapters[2].reason == "copyright page, by its text"


@pytest.mark.parametrize("attributes", ["", "epub:type='titlepage'"])
def test_a_book_that_is_all_front_matter_is_read(tmp_path: Path, attributes: str) -> None:
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page("<h1>A Book</h1><p>by Ann Author</p>", attributes)}))
    assert kept_titles(book) == ["A Book"]
