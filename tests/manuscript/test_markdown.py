"""Markdown and single web pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.manuscript.markdown import render_markdown

from .build import all_blocks, texts, titles
from .spans import check_spans


def read(tmp_path: Path, text: str, name: str = "book.md") -> Book:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8", newline="")
    book = read_manuscript(path)
    if name.endswith(".md"):
        check_spans(render_markdown(text)[0], all_blocks(book), book.left_out)
    return book


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
        "list item: 1. o",
        "break: ",
        "heading: Two",
        "paragraph: p, q.",
        "paragraph: r, s.",
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
        ("note mark", "[1]"),
        ("note mark", "[2]"),
        ("code", "x = 1"),
        ("picture description", "a map"),
        ("note", "The note. Its second line."),
        ("note", "word"),
    }


def test_all_notes_are_left_out(tmp_path: Path) -> None:
    text = "One^[an *inline* note] two[^1] three[^1].\n\n[^1]: Twice.\n\n[^1]: Again.\n\n[^2]: Never.\n"
    book = read(tmp_path, text)
    assert shown(book) == ["paragraph: One two three."]
    assert {left.text for left in book.left_out if left.reason == "note"} == {
        "an inline note", "Twice.", "Again.", "Never."
    }  # fmt: skip


INDENTED = [
    "It rained all night, and the river rose.",
    '"Who?"',
    '"Me."',
    '"I paid $9 for it," she said;',
    "(She never sold it.)",
    "Dear Kim,",
    "come soon;",
    "Yours,",
    "Ann",
    "[HP = 5]",
]


@pytest.mark.parametrize("parts", [INDENTED, INDENTED[1:], INDENTED[1:2], INDENTED[4:5]])
def test_an_indented_story_is_read_whole(tmp_path: Path, parts: list[str]) -> None:
    book = read(tmp_path, "One.\n\n" + "\n\n".join(f"    {part}" for part in parts) + "\n")
    assert texts(book.chapters[0]) == ["One.", *parts]
    assert not book.left_out


@pytest.mark.parametrize(
    "code", ["x = {1};", "$ make all of it", ">>> print(1)", "def f():\n    return the thing", "run_it()", "import os"]
)
def test_indented_code_is_left_out(tmp_path: Path, code: str) -> None:
    indented = code.replace("\n", "\n    ")
    book = read(tmp_path, f"One.\n\n    {indented}\n\nTwo.\n\n    {indented}\n\n    {indented}\n")
    assert texts(book.chapters[0]) == ["One.", "Two."]
    assert {left.reason for left in book.left_out} == {"code"}


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("---\ntitle: A: b\n---\n", ("One", ())),  # no YAML, and left out all the same
        ("---\ntitle: T\nauthor:\n  - Ann\n  - name: Bob\n---\n", ("T", ("Ann", "Bob"))),
        ('+++\ntitle = "T"\nauthors = ["Ann"]\n+++\n', ("T", ("Ann",))),
        ("---\nTitle: 2020-01-01\nAuthor: yes\n...\n", ("2020-01-01", ("yes",))),
    ],
)
def test_front_matter(tmp_path: Path, head: str, expected: tuple[str, tuple[str, ...]]) -> None:
    book = read(tmp_path, f"{head}\n# One {{#one .x}}\n\nWords.\n")
    assert (book.title, book.authors) == expected
    assert shown(book) == ["heading: One", "paragraph: Words."]
    assert [left.reason for left in book.left_out] == ["front matter", "attributes of a heading"]


def test_a_rule_at_the_top_is_no_front_matter(tmp_path: Path) -> None:
    assert shown(read(tmp_path, "---\n\nWords.\n\n---\n")) == ["break: ", "paragraph: Words.", "break: "]


@pytest.mark.parametrize(
    "scene",
    [
        "Kim: the last of them.\nShe slept.",
        "Note: it rained: all night.\n\nShe slept.",
        "Kim: what?\n\nAnn: nothing: sleep.\nShe slept.",
    ],
)
def test_a_scene_between_rules_is_no_front_matter(tmp_path: Path, scene: str) -> None:
    book = read(tmp_path, f"---\n{scene}\n\n---\n\nTwo.\n")
    assert " ".join(block.text for block in all_blocks(book)).split() == [*scene.split(), "Two."]
    assert {left.reason for left in book.left_out} <= {"scene break, heard as a pause"}


def test_html_in_markdown(tmp_path: Path) -> None:
    book = read(tmp_path, "One<br>two <b>three</b>.\n\n<div class='poem'>a<br>b</div>\n")
    assert shown(book) == ["paragraph: One two three.", "verse: a", "verse: b"]


@pytest.mark.parametrize(
    "text",
    [
        "<Quest complete>",
        "<Level up!>",
        "<Kim> wrote to him.",
        "He pressed <enter> and <esc/>.",
        "<Menu closed>",
        "<Mark> is here.",
        "</sarcasm> he said.",
        "<!Alarm now>",
        "<? she said. <?>",
        "[Kim]: Yes.",
        "[Kim]: Why?",
        "[Kim]: Well...",
        "[Kim]: <sighs>",
        "He pressed <del>.",
        "[10:30]: Rain.",
    ],
)
def test_what_is_no_html_and_no_link_is_text(tmp_path: Path, text: str) -> None:
    book = read(tmp_path, f"One.\n\n{text}\n\nTwo.\n\n<div>a {text} b</div>\n")
    assert shown(book) == ["paragraph: One.", f"paragraph: {text}", "paragraph: Two.", f"paragraph: a {text} b"]
    assert not book.left_out


def test_html_is_no_text(tmp_path: Path) -> None:
    text = "<Mark>a</Mark> <b>b</b> <i class=x hidden>c</i> <Br>d <input type='radio' checked/>.\n"
    assert shown(read(tmp_path, text)) == ["paragraph: a b d ."]


def test_definitions_of_links_are_listed(tmp_path: Path) -> None:
    text = "One [two][a] [three].\n\n[a]: http://x.org 'T'\n[Three]: #four\n\n> [b]: <c/d e>\n> Five.\n"
    book = read(tmp_path, text)
    assert shown(book) == ["paragraph: One two three.", "quote: Five."]
    assert [(left.reason, left.text) for left in book.left_out] == [
        ("definition of a link", "[a]: http://x.org 'T'"),
        ("definition of a link", "[Three]: #four"),
        ("definition of a link", "[b]: <c/d e>"),
    ]


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


def test_what_lies_around_the_text_of_a_saved_page(tmp_path: Path) -> None:
    markup = (
        "<html><body><header><h1>The Book</h1></header><nav><a href='/'>Home</a></nav><main><p>It rained.</p>"
        "<aside>A word aside.</aside><footer>Signed, Ann.</footer><button>Like</button></main>"
        "<aside>Buy more</aside><div role='contentinfo'>Imprint</div><footer>© Site</footer></body></html>"
    )
    book = read(tmp_path, markup, "book.html")
    assert [block.text for block in all_blocks(book)] == ["The Book", "It rained.", "A word aside.", "Signed, Ann."]
    assert {left.text for left in book.left_out} >= {"Home", "Like", "Buy more", "Imprint", "© Site"}


def test_a_footer_of_a_page_without_a_main_is_read(tmp_path: Path) -> None:
    book = read(tmp_path, "<p>It rained.</p><footer>It stopped.</footer>", "book.html")
    assert [block.text for block in all_blocks(book)] == ["It rained.", "It stopped."]


def test_brackets_by_the_thousand_are_read_as_they_are(tmp_path: Path) -> None:
    text = "![a" * 3000
    assert shown(read(tmp_path, f"One [two](x).\n\n{text}\n")) == ["paragraph: One two.", f"paragraph: {text}"]


def test_characters_that_no_xml_may_hold_are_dropped_from_the_head_too(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("---\ntitle: A\x01 Book\x0b\n---\n\nIt was\x02 so.\n")
    book = read_manuscript(path)
    assert book.title == "A Book"
    assert [block.text for block in book.chapters[0].blocks] == ["It was so."]
