"""Checks that spans point at the words they stand for."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from pipeline.manuscript.book import Block, LeftOut, Span
from pipeline.manuscript.prose import clean


def check_spans(root: etree._Element, blocks: Sequence[Block], left_out: Sequence[LeftOut]) -> None:
    """The characters of the source at a span, less what is left out within it, are those of the text."""
    starts = _starts(root)
    holes = sorted(((_place(root, starts, left.span), left) for left in left_out), key=lambda hole: hole[0])
    whole = _string(root)
    for (start, end), left in holes:
        assert _letters(whole[start:end]) == _letters(left.text)
    for block in blocks:
        start, end = _place(root, starts, block.span)
        kept = ""
        for (hole_start, hole_end), _ in holes:
            if start <= hole_start and hole_end <= end:
                kept += whole[start:hole_start]
                start = hole_end
        source = _letters(kept + whole[start:end])
        if block.text:
            # A drop cap that is a picture has its letter in no text.
            assert source in (_letters(block.text), _letters(block.text)[1:])
        else:
            assert not any(char.isalpha() and char not in "oO" for char in source)


def _letters(text: str) -> str:
    return clean(text).replace(" ", "")


def _node(root: etree._Element, span: Span) -> etree._Element:
    (node,) = root.getroottree().xpath(span.node)
    return node


def _string(node: etree._Element) -> str:
    return str(node.xpath("string()"))


def _starts(root: etree._Element) -> dict[etree._Element, int]:
    starts = {}
    position = 0
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            starts[node] = position
            position += len(node.text or "")
        elif node is not root:
            position += len(node.tail or "")
    return starts


def _place(root: etree._Element, starts: dict[etree._Element, int], span: Span) -> tuple[int, int]:
    start = starts[_node(root, span)]
    return start + span.start, start + span.end
