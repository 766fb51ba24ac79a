"""Checks that a text's spans cover it: each visible character is in one block or left out, once."""

from __future__ import annotations

from pipeline.manuscript.book import Book
from pipeline.manuscript.prose import clean

from .build import all_blocks


def check_cover(text: str, book: Book) -> None:
    """`text` is the whole decoded source of a book without nodes."""
    owners: list[str] = [""] * len(text)
    for left in book.left_out:
        assert left.span.node == ""
        source = clean(text[left.span.start : left.span.end]).replace(" ", "")
        assert source == left.text.replace(" ", ""), left
        for place in range(left.span.start, left.span.end):
            assert not owners[place] or not clean(text[place]), f"left out twice: {left}"
            owners[place] = "left out"
    for block in all_blocks(book):
        start, end = block.span.start, block.span.end
        kept = "".join(char for char, owner in zip(text[start:end], owners[start:end], strict=True) if not owner)
        own = block.text
        for first, last in reversed(block.added):
            own = own[:first] + own[last:]
        assert clean(kept).replace(" ", "") == own.replace(" ", "") or not block.text, block
        for place in range(start, end):
            assert owners[place] != "block" or not clean(text[place]), f"read twice: {block}"
            owners[place] = owners[place] or "block"
    lost = "".join(char for char, owner in zip(text, owners, strict=True) if not owner)
    assert not clean(lost), f"lost: {clean(lost)[:100]!r}"
