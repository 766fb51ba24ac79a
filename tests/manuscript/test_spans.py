"""The check of spans can fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pipeline.manuscript.document import Document
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import parse_markup

from .build import page
from .spans import check_spans


def lose_block(document: Document) -> None:
    del document.blocks[1]


def double_block(document: Document) -> None:
    document.blocks.append(document.blocks[0])


def lose_left_out(document: Document) -> None:
    del document.left_out[1]


def double_left_out(document: Document) -> None:
    document.left_out.append(document.left_out[1])


def lose_character(document: Document) -> None:
    document.blocks[0] = replace(document.blocks[0], text="one to")


def add_unsaid(document: Document) -> None:
    document.blocks[1] = replace(document.blocks[1], added=())


@pytest.mark.parametrize(
    "spoil", [lose_block, double_block, lose_left_out, double_left_out, lose_character, add_unsaid]
)
def test_what_is_wrong_is_found(spoil: Callable[[Document], None]) -> None:
    root = parse_markup(page("<p>one<sup><a href='#n'>1</a></sup> two</p><ol><li>three</li></ol>").encode())
    assert root is not None
    document = read_tree(root, "a.xhtml")
    check_spans(root, document.blocks, document.left_out)
    spoil(document)
    with pytest.raises(AssertionError):
        check_spans(root, document.blocks, document.left_out)
