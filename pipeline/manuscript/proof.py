"""The proof of a reading: every visible character of the manuscript is in one block, or listed as left out.

The source is looked at by another path than the readers': as one flat text a file, which spans must cover once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lxml import etree

from pipeline.errors import UnaccountedError
from pipeline.manuscript.book import Block, Book, LeftOut, Span
from pipeline.manuscript.prose import clean
from pipeline.manuscript.soup import flat_text

_EXCERPT = 40
_MAX_LETTERS_LOST = 30


@dataclass(frozen=True, slots=True)
class Source:
    """A file's whole text, and where in it the text of each node begins, by the XPath that spans name."""

    text: str
    starts: Mapping[str, int]


class _Account(NamedTuple):
    """What a range of a file's text became: `said` are the visible characters there, as the reader has them."""

    start: int
    end: int
    said: str
    is_left_out: bool


def source_of_text(text: str) -> Source:
    return Source(text, {"": 0})


def source_of_tree(root: etree._Element) -> Source:
    """The text of a tree, as XPath's `string()` gives it, with the place of every element in it."""
    pieces: list[str] = []
    starts: dict[str, int] = {}
    position = 0
    open_: list[tuple[str, int]] = [("", 0)]
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        raw = node.text if event == "start" else node.tail if node is not root else None
        if event == "start":
            parent, number = open_.pop()
            open_.append((parent, number + 1))
            path = f"{parent}/*[{number + 1}]" if parent else "/*"
            open_.append((path, 0))
            starts[path] = position
        elif event == "end":
            open_.pop()
        if raw:
            pieces.append(raw)
            position += len(raw)
    return Source("".join(pieces), starts)


def check_parsed(source: str, root: etree._Element | None, name: str) -> None:
    """Check that a tree made of faulty markup has as many letters as the file has outside its tags.

    Raises `UnaccountedError` where text is lost, or markup taken for text.
    """
    num_found = sum(_count_letters(node, root) for node in (root.iter() if root is not None else ()))
    num_there = sum(map(str.isalnum, flat_text(source)))
    if abs(num_there - num_found) > max(_MAX_LETTERS_LOST, num_there // 100):
        raise UnaccountedError(
            f"{name} has faulty markup, in which {num_there} letters are found in one way and {num_found} in another, "
            "so that text might be lost; open it in an EPUB or HTML editor and save it."
        )


def _count_letters(node: etree._Element, root: etree._Element | None) -> int:
    """The letters and digits of a node's own text and those after it."""
    is_text = isinstance(node.tag, str) and node.tag not in ("script", "style")
    text = (node.text or "") if is_text else ""
    return sum(map(str.isalnum, text + ((node.tail or "") if node is not root else "")))


def check_reading(book: Book, sources: Mapping[str, Source], name: str) -> None:
    """Check a book against its files' texts, by the names that its spans give them.

    Raises `UnaccountedError` that says what is missing, doubled or changed, and where, in the manuscript `name`.
    """
    accounts: dict[str, list[_Account]] = {file: [] for file in sources}
    for block in (block for chapter in book.chapters for block in chapter.blocks):
        accounts[block.span.file].append(_account(block.span, without_added(block), sources, is_left_out=False))
    for left in book.left_out:
        accounts[left.span.file].append(_account(left.span, left.text, sources, is_left_out=True))
    for file, source in sources.items():
        if fault := find_fault(source.text, accounts[file]):
            raise UnaccountedError(
                f"{name}: {fault}, in {file}. That is a fault of render-book, which stops before it reads a book "
                "wrongly: please report it. Until it is mended, take that text out with an editor."
            )


def without_added(block: Block) -> str:
    """A block's text as far as it stands in the source."""
    pieces = []
    done = 0
    for start, end in block.added:
        pieces.append(block.text[done:start])
        done = end
    return "".join(pieces) + block.text[done:]


def visible(text: str) -> str:
    """The characters of a text that a reader sees, without white space."""
    return clean(text).replace(" ", "")


def _account(span: Span, said: str, sources: Mapping[str, Source], *, is_left_out: bool) -> _Account:
    start = sources[span.file].starts[span.node]
    return _Account(start + span.start, start + span.end, visible(said), is_left_out)


def find_fault(text: str, accounts: Iterable[_Account]) -> str:
    """What of a file's text is not accounted for once, or is other than it is there; empty if nothing."""
    taken = bytearray(len(text))
    # What is left out inside a paragraph, a note's mark say, is none of the paragraph's.
    for account in sorted(accounts, key=lambda account: not account.is_left_out):
        start, end = account.start, account.end
        free = _free(text[start:end], taken[start:end])
        if visible(free) != account.said:
            what = "listed as left out, but as" if account.is_left_out else "read as"
            return f"{_quote(text, start, end)} is {what} {account.said[:_EXCERPT]!r}, or twice"
        taken[start:end] = b"\1" * (end - start)
    for run in re.finditer(rb"\0+", taken):
        if visible(text[run.start() : run.end()]):
            return f"{_quote(text, run.start(), run.end())} is neither read nor listed as left out"
    return ""


def _free(text: str, taken: bytearray) -> str:
    """What of a text isn't taken yet."""
    if not any(taken):
        return text
    return "".join(char for char, is_taken in zip(text, taken, strict=True) if not is_taken)


def _quote(text: str, start: int, end: int) -> str:
    excerpt = clean(text[start:end])
    before = clean(text[max(0, start - _EXCERPT) : start])
    shown = repr(excerpt if len(excerpt) <= _EXCERPT else excerpt[:_EXCERPT] + "…")
    return f"{shown} (after {before!r})" if before else shown


def count_left_out(left_out: Sequence[LeftOut]) -> Counter[str]:
    """Visible characters left out, by reason."""
    counts: Counter[str] = Counter()
    for left in left_out:
        counts[left.reason] += len(visible(left.text))
    return counts
