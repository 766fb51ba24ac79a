"""Checks that the spans of a file account for each of its visible characters once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from pathlib import Path

from lxml import etree

from pipeline.manuscript.archive import Archive
from pipeline.manuscript.book import Block, Book, Kind, LeftOut, Span
from pipeline.manuscript.markup import parse_markup
from pipeline.manuscript.package import read_package
from pipeline.manuscript.prose import clean


def check_spans(root: etree._Element, blocks: Iterable[Block], left_out: Iterable[LeftOut]) -> None:
    """Each visible character lies in one block or one left-out; both have the very characters of their spans."""
    whole = str(root.xpath("string()"))
    places = _places(root)
    cover = [0] * (len(whole) + 1)
    holes = sorted((*_place(places, left.span), left.text) for left in left_out)
    for start, end, text in holes:
        assert 0 <= start <= end <= len(whole)
        assert visible(whole[start:end]) == visible(text), text[:200]
        _cover(cover, start, end)
    starts = [start for start, _, _ in holes]
    for block in blocks:
        start, end = _place(places, block.span)
        assert 0 <= start <= end <= len(whole), block
        source = ""
        for hole_start, hole_end, _ in holes[bisect_left(starts, start) :]:
            if hole_start >= end:
                break
            assert hole_start >= start, f"{whole[hole_start:hole_end][:80]} is left out twice"
            assert hole_end <= end, f"{block.text[:80]} is left out in part"
            source += whole[start:hole_start]
            _cover(cover, start, hole_start)
            start = hole_end
        source += whole[start:end]
        _cover(cover, start, end)
        assert visible(source) == visible(own_text(block)), block
        assert bool(block.text) == (block.kind is not Kind.BREAK)
    depth = 0
    for index, char in enumerate(whole):
        depth += cover[index]
        around = f"{whole[max(index - 60, 0) : index]}>>>{whole[index : index + 60]}"
        assert depth == 1 or not visible(char), f"{depth} times: {around}"


def own_text(block: Block) -> str:
    """A block's text without what the source doesn't hold."""
    text, end = "", len(block.text)
    for start, stop in reversed(block.added):
        assert 0 <= start < stop <= end, block
        text, end = block.text[stop:end] + text, start
    return block.text[:end] + text


def visible(text: str) -> str:
    return clean(text).replace(" ", "")


def _cover(cover: list[int], start: int, end: int) -> None:
    cover[start] += 1
    cover[end] -= 1


def _place(places: dict[str, int], span: Span) -> tuple[int, int]:
    return places[span.node] + span.start, places[span.node] + span.end


def _places(root: etree._Element) -> dict[str, int]:
    """Where the text of each element begins, by its path."""
    places: dict[str, int] = {}
    path: list[str] = []
    counts = [0]
    position = 0
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            counts[-1] += 1
            path.append(f"/*[{counts[-1]}]" if path else "/*")
            counts.append(0)
            places["".join(path)] = position
            position += len(node.text or "")
            continue
        if event == "end":
            path.pop()
            counts.pop()
        if node is not root:
            position += len(node.tail or "")
    return places


def check_book(book: Book, path: Path) -> None:
    """The same for all text files of an EPUB's manifest, in the spine or not."""
    files: dict[str, tuple[list[Block], list[LeftOut]]] = {}
    for chapter in book.chapters:
        for block in chapter.blocks:
            files.setdefault(block.span.file, ([], []))[0].append(block)
    for left in book.left_out:
        files.setdefault(left.span.file, ([], []))[1].append(left)
    with Archive(path) as archive:
        package = read_package(archive)
        texts = {item.name for item in package.items.values() if item.is_text()}
        for name in texts | {item.name for item, _ in package.spine}:
            root = parse_markup(archive.read(name))
            if root is not None:
                check_spans(root, *files.pop(name, ([], [])))
    assert not files
