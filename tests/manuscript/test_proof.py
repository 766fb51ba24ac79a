"""A reading that loses, doubles or changes a character is found out, and where."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pipeline.errors import UnaccountedError
from pipeline.manuscript.book import Block, Book, Chapter, Kind, LeftOut, Span
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import parse_markup
from pipeline.manuscript.proof import check_reading, source_of_text, source_of_tree, visible

from .build import page
from .test_html_properties import joined, numbered, tree

PAGE = page(
    "<h1>One</h1><p>First<a epub:type='noteref' href='#n'>1</a>, then.</p><aside epub:type='footnote'>So.</aside>"
)


def book_of(blocks: list[Block], left_out: list[LeftOut]) -> Book:
    return Book("A Book", (), "en", (Chapter(1, "One", tuple(blocks)),), tuple(left_out))


def read(source: str) -> tuple[list[Block], list[LeftOut], dict]:
    root = parse_markup(source.encode())
    assert root is not None
    document = read_tree(root, "a.xhtml")
    return document.blocks, document.left_out, {"a.xhtml": source_of_tree(root)}


def test_what_is_read_as_it_stands_passes():
    blocks, left_out, sources = read(PAGE)
    check_reading(book_of(blocks, left_out), sources, "book.epub")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda blocks, left: (blocks[:1], left), "'First' (after 'tOne') is neither read nor listed"),
        (lambda blocks, left: (blocks, left[:1] + left[2:]), "'First1, then.' (after 'tOne') is read as 'First,then.'"),
        (lambda blocks, left: (blocks, left[:-1]), "'So.' (after 'tOneFirst1, then.') is neither read nor listed"),
        (lambda blocks, left: ([*blocks, blocks[0]], left), "'One' (after 't') is read as 'One', or twice"),
        (lambda blocks, left: ([blocks[0], replace(blocks[1], text="First, that.")], left), "read as 'First,that.'"),
    ],
)
def test_what_is_lost_doubled_or_changed_is_said_with_its_place(change, said):
    blocks, left_out, sources = read(PAGE)
    left_out.sort(key=lambda left: ("head", "mark", "note").index(left.reason.split()[-1]))
    changed = change(blocks, left_out)
    with pytest.raises(UnaccountedError) as raised:
        check_reading(book_of(*changed), sources, "book.epub")
    assert said in str(raised.value)
    assert "a.xhtml" in str(raised.value)
    assert "book.epub" in str(raised.value)


def test_what_was_added_is_not_looked_for():
    span = Span("a.txt", "", 0, 4)
    source = {"a.txt": source_of_text("Milk")}
    check_reading(book_of([Block(Kind.LIST_ITEM, "1. Milk.", span, added=((0, 3), (7, 8)))], []), source, "a.txt")
    with pytest.raises(UnaccountedError):
        check_reading(book_of([Block(Kind.LIST_ITEM, "1. Milk.", span)], []), source, "a.txt")


@settings(max_examples=100, deadline=None)
@given(st.lists(tree, max_size=6).map(joined), st.data())
def test_any_one_that_is_missing_is_missed(markup: str, data: st.DataObject) -> None:
    blocks, left_out, sources = read(page(numbered(markup)[0]))
    check_reading(book_of(blocks, left_out), sources, "book.epub")
    everything = [one for one in (*blocks, *left_out) if visible(one.text)]
    assume(everything)
    gone = data.draw(st.sampled_from(everything))
    with pytest.raises(UnaccountedError):
        check_reading(
            book_of([one for one in blocks if one is not gone], [one for one in left_out if one is not gone]),
            sources,
            "book.epub",
        )
