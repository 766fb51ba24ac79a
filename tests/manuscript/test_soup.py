"""Markup that is no XML: no fault of it takes text away, and where one does all the same it is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import UnaccountedError
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import parse_markup
from pipeline.manuscript.proof import check_parsed
from pipeline.manuscript.soup import flat_text, flatten, mend_soup

from .spans import check_spans

XHTML = '<html xmlns="http://www.w3.org/1999/xhtml">'


def read(markup: str) -> list[str]:
    root = parse_markup(markup.encode(), "a.xhtml")
    assert root is not None
    document = read_tree(root, "a.xhtml")
    check_spans(root, document.blocks, document.left_out)
    return [block.text for block in document.blocks]


@pytest.mark.parametrize(
    ("markup", "texts"),
    [
        ("<HTML><HEAD><TITLE>t</HEAD><BODY><P>One<P>two", ["One", "two"]),
        ("<head><title>t<body><p>One<p>two", ["One", "two"]),
        ("<head><script src=a.js></head><body><p>One<p>two", ["One", "two"]),
        ("<head><style>p{}<p>One<p>two", ["One", "two"]),
        (f"{XHTML}<head><title/></head><body><p>One<p>two", ["One", "two"]),
        (f"{XHTML}<body><p>One</p><nav/><p hidden=''/><p>two <b>three</p>", ["One", "two three"]),
        ("<body><p>One</p></body></html><p>two<p>three", ["One", "two", "three"]),
        ("<body><p>One</p></body>two<p>three", ["One", "two", "three"]),
        ("<p class='a>One</p><p>It's two<p class='b'>three", ["One", "It's two", "three"]),
        ("<p>One<!-- not closed ><p>two<p>three", ["One not closed >", "two", "three"]),
        ("<p>One <![CDATA[& two]]><p>three", ["One & two", "three"]),
        ("<p>If a <b and so<p>two", ["If a <b and so", "two"]),
        ("<p>One<p>is 3 < 4?<p>two<span cla", ["One", "is 3 < 4?", "two"]),
        ("<p>One</textarea><textarea><p>two", ["One", "two"]),
    ],
)
def test_what_would_swallow_text(markup: str, texts: list[str]) -> None:
    assert read(markup) == texts


def test_cdata_is_text_but_comments_are_none() -> None:
    body = "<p>One <![CDATA[<two> & &amp;]]></p><!-- <![CDATA[ & no ]]> --><p>x</p>"
    assert read(f"{XHTML}<body>{body}</body></html>") == ["One <two> & &amp;", "x"]


def test_an_entity_declared_by_references_is_resolved_twice() -> None:
    assert read("<!DOCTYPE html [<!ENTITY n 'Ann &#38;#38; Ben'>]><html><p>&n;</p></html>") == ["Ann & Ben"]


@pytest.mark.parametrize("faulty", ["", "<br>"])
def test_wrappers_nested_without_end(faulty: str) -> None:
    deep = "<div>" * 4000 + "one" + "<span>" * 4000 + " two" + "</span>" * 4000 + "</div>" * 4000
    assert read(f"{XHTML}<body><h1>Deep</h1>{deep}<p>after</p>{faulty}</body></html>") == ["Deep", "one two", "after"]


@pytest.mark.parametrize(
    ("markup", "tree"),
    [
        ("<p>" + "lost words " * 9, "<html><p>lost words</p></html>"),
        ("<p>a</p>", "<html><title>" + "&lt;p>markup that is taken for text" * 3 + "</title></html>"),
    ],
)
def test_a_parser_that_loses_text_is_found_out(markup: str, tree: str) -> None:
    with pytest.raises(UnaccountedError, match="has faulty markup"):
        check_parsed(markup, parse_markup(tree.encode()), "a.xhtml")


PIECES = ["<p>", "</p>", "<title>", "</title>", "<b", "'", '"', ">", "/>", "<!--",
          "-->", "<i class='a'>", "</i>", "one", "two ", "<textarea>", "</html>", "<", "&", "="]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_mending_keeps_all_that_a_flat_look_sees(markup: str) -> None:
    assert flat_text(flatten(mend_soup(markup))).count("one") >= flat_text(markup).count("one")


@pytest.mark.parametrize("piece", ["<", "<p", "<p '", "<!--", "<!", "<script>", "<title>", "<![CDATA[", "</b", "<b>"])
def test_any_soup_is_read_in_linear_time(piece: str) -> None:
    parse_markup(("<p>" + piece * (200_000 // len(piece))).encode())


@pytest.mark.parametrize("run", ["a", " ", "' ", "a=", "/"])
def test_a_tag_without_end_is_read_in_linear_time(run: str) -> None:
    start = "<b " if run == " " else "<b"
    assert flat_text(start + run * 200_000 + "<p>x").endswith("x")
    assert mend_soup(start + run * 200_000 + "<p>x").endswith("x")
