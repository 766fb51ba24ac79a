"""Trees to blocks: a line a case in tests/cases/manuscript, and what a line can't say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.manuscript.book import Block
from pipeline.manuscript.chapters import divide
from pipeline.manuscript.document import Document
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import parse_markup
from pipeline.manuscript.reading import Notes, Reading

from .build import page
from .spans import check_spans

CASES = Path(__file__).parent.parent / "cases" / "manuscript"


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text(encoding="utf-8").splitlines()]


def read(markup: str) -> Document:
    """Read markup as the body of a page, checking all spans."""
    data = page(markup).encode()
    root = parse_markup(data)
    assert root is not None
    document = read_tree(root, "a.xhtml")
    check_spans(root, document.blocks, document.left_out)
    return document


def show(block: Block) -> str:
    return f"{block.kind}: {'+ ' if block.continues else ''}{block.text}"


@pytest.mark.parametrize("case", cases("blocks.jsonl"), ids=lambda case: case["case"])
def test_blocks(case: dict[str, Any]) -> None:
    assert [show(block) for block in read(case["html"]).blocks] == case["blocks"]


@pytest.mark.parametrize("case", cases("left_out.jsonl"), ids=lambda case: case["html"])
def test_left_out(case: dict[str, Any]) -> None:
    document = read(case["html"])
    assert [block.text for block in document.blocks] == ["a"]
    assert (case["reason"], case["text"]) in {(left.reason, left.text) for left in document.left_out}


@pytest.mark.parametrize(
    "kept", ["<a href='#c2'>2</a>", "<a href='c2.xhtml'>[2]</a>", "<a href='#c2'>two</a>", "<sup>2</sup>", "[2]"]
)
def test_what_only_looks_like_a_note_mark_is_read(kept: str) -> None:
    (block,) = read(f"<p>See {kept}.</p>").blocks
    assert "2" in block.text or "two" in block.text


def test_anchors_and_levels() -> None:
    document = read(
        "<h1 id='a'>A</h1><p><a name='b'/>b</p><span epub:type='pagebreak' id='c'>9</span><h2>C <i id='d'/></h2>"
    )
    assert document.levels == {0: 1, 2: 2}
    assert {name: document.anchors[name] for name in "abcd"} == {"a": 0, "b": 1, "c": 2, "d": 2}


def test_spans_count_what_is_left_out() -> None:
    block = read("<div>ab <sup><a href='#n'>1</a></sup>cd<p>e</p> fg</div>").blocks[2]
    assert (block.text, block.span.node, block.span.start, block.span.end) == ("fg", "/*/*[2]/*[1]", 8, 10)


def test_comments_and_instructions_are_no_text() -> None:
    assert [block.text for block in read("<p>on<!-- no -->e <?no no?>two</p>").blocks] == ["one two"]


def test_markup_that_is_not_xml() -> None:
    data = "<html><head><title/></head><body><p>one<p>two<br>three &eacute;<script src='a'/> <b>four<p>five</b> six"
    root = parse_markup(data.encode())
    assert root is not None
    document = read_tree(root, "a.html")
    assert " ".join(block.text for block in document.blocks) == "one two three é four five six"
    check_spans(root, document.blocks, document.left_out)


def test_unclosed_tags_nest_deep_and_lose_nothing() -> None:
    root = parse_markup(("<html><body>" + "<p><font>word " * 600).encode())
    assert root is not None
    assert len(read_tree(root, "a.html").blocks) == 600


@pytest.mark.parametrize(
    "subset",
    [
        '<!ENTITY x SYSTEM "file:///etc/passwd">',
        '<!ENTITY x PUBLIC "p" "http://127.0.0.1:9/x">',
        '<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;',
        '<!ENTITY a "ha"><!ENTITY x "&a;&a;">',
    ],
)
def test_entities_are_never_fetched_nor_multiplied(subset: str) -> None:
    data = f'<?xml version="1.0"?><!DOCTYPE html [{subset}]><html><body><p>one &x; two</p></body></html>'
    root = parse_markup(data.encode())
    assert root is not None
    text = read_tree(root, "a.xhtml").blocks[0].text
    assert text.startswith("one ")
    assert text.endswith(" two")
    assert "root:" not in text
    assert "haha" not in text


def test_entities_a_file_declares_are_kept() -> None:
    data = '<!DOCTYPE html [<!ENTITY name "Ann &#38; Ben">]><html><body><p>By &name;.</p></body></html>'
    root = parse_markup(data.encode())
    assert root is not None
    assert read_tree(root, "a.xhtml").blocks[0].text == "By Ann & Ben."


def test_many_siblings_take_linear_time() -> None:
    markup = "<p>A line of a long chapter<a href='#n'>[1]</a> goes on.</p>" * 20_000
    root = parse_markup(page(f"<div class='poem'>{markup}</div>").encode())
    assert root is not None
    assert len(read_tree(root, "a.xhtml").blocks) == 20_000


@pytest.mark.parametrize("mode", ["skip", "inline", "end"])
@pytest.mark.parametrize("case", cases("notes.jsonl"), ids=lambda case: case["case"])
def test_notes(case: dict[str, Any], mode: Notes) -> None:
    root = parse_markup(page(case["html"]).encode())
    assert root is not None
    document = read_tree(root, "a.xhtml", reads_notes=mode != "skip")
    notes = [block for blocks in document.notes.values() for block in blocks]
    check_spans(root, document.blocks + notes, document.left_out)
    chapters = divide([document], reading=Reading(notes=mode))
    assert [block.text for chapter in chapters for block in chapter.blocks] == case[mode]
