"""Markdown and single web pages."""

from __future__ import annotations

from pathlib import Path

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book

from .build import all_blocks, texts, titles


def read(tmp_path: Path, text: str, name: str = "book.md") -> Book:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    return read_manuscript(path)


def shown(book: Book) -> list[str]:
    return [f"{block.kind}: {block.text}" for block in all_blocks(book)]


def test_blocks(tmp_path: Path) -> None:
    text = (
        "# One\r\n\r\nA *b* **c** [d](http://x) `e`\r\nf ~~g~~ \\*h\\* &mdash; i  \r\nj\r\n\r\n> k\r\n> l\r\n\r\n"
        "- m\r\n- n\r\n  1. o\r\n\r\n***\r\n\r\nTwo\r\n===\r\n\r\n| p | q |\r\n|---|---|\r\n| r | s |\r\n"
    )
    assert shown(read(tmp_path, text)) == [
        "heading: One",
        "paragraph: A b c d e f g *h* — i j",
        "quote: k l",
        "list item: m",
        "list item: n",
        "list item: o",
        "break: ",
        "heading: Two",
        "paragraph: p",
        "paragraph: q",
        "paragraph: r",
        "paragraph: s",
    ]


def test_top_headings_divide(tmp_path: Path) -> None:
    book = read(tmp_path, "Before.\n\n# One {#one}\n\n## x\n\na\n\n# Two\n\nb\n")
    assert titles(book) == ["Before.", "One", "Two"]
    assert texts(book.chapters[1]) == ["One", "x", "a"]


def test_what_is_left_out_is_listed(tmp_path: Path) -> None:
    text = (
        "---\ntitle: 'My Book'\nauthor: Ann\nlang: en\n---\n\nWords[^1] on <!-- in -->here.\n\n<!-- out -->\n\n"
        "```py\nx = 1\n```\n\n![a map](m.png)\n\n[^1]: The note.\n    Its second line.\n\n[^2]: word\n\nEnd[^2].\n"
    )
    book = read(tmp_path, text)
    assert shown(book) == ["paragraph: Words on here.", "paragraph: End."]
    assert (book.title, book.authors, book.language) == ("My Book", ("Ann",), "en")
    assert {(left.reason, left.text) for left in book.left_out if left.reason != "front matter"} == {
        ("note mark", "[^1]"),
        ("note mark", "[^2]"),
        ("comment", "in"),
        ("comment", "out"),
        ("code", "x = 1"),
        ("picture description", "a map"),
        ("note", "[^1]: The note. Its second line."),
        ("note", "[^2]: word"),
    }


def test_spans_are_those_of_the_lines(tmp_path: Path) -> None:
    text = "---\ntitle: T\n---\n# One\n\nSome *words*\\\nhere.\r\n\r\n> Quoted.\r\n\r\n[^1]: A note.\n\nEnd"
    book = read(tmp_path, text)
    spans = [text[block.span.start : block.span.end] for block in all_blocks(book)]
    assert spans == ["# One", "Some *words*\\\nhere.", "> Quoted.", "End"]
    spans = [text[left.span.start : left.span.end] for left in book.left_out]
    assert spans == ["---\ntitle: T\n---", "[^1]: A note."]


def test_a_rule_at_the_top_is_no_front_matter(tmp_path: Path) -> None:
    assert shown(read(tmp_path, "---\n\nWords.\n\n---\n")) == ["break: ", "paragraph: Words.", "break: "]


def test_html_in_markdown(tmp_path: Path) -> None:
    book = read(tmp_path, "One<br>two <b>three</b>.\n\n<div class='poem'>a<br>b</div>\n")
    assert shown(book) == ["paragraph: One two three.", "verse: a", "verse: b"]


def test_a_web_page(tmp_path: Path) -> None:
    markup = (
        "<html lang=en><head><title>The Page</title><meta name=author content='Ann'></head><body><h1>T</h1>"
        "<p>Before.<h2>One</h2><p>a<h2>Two</h2>b</body></html>"
    )
    book = read(tmp_path, markup, "book.html")
    assert (book.title, book.authors, book.language) == ("The Page", ("Ann",), "en")
    assert titles(book) == ["T", "One", "Two"]
    assert texts(book.chapters[2]) == ["Two", "b"]
    assert any(left.reason == "document head" for left in book.left_out)
