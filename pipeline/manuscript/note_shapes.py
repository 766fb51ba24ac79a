"""What marks and labels of notes look like in a tree."""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.left_out import BLOCKS, MARK, visible_text
from pipeline.manuscript.markup import local_name

_NOTE_NAME = re.compile(r"[_-]?(?:foot|end)?(?:note|ftn|edn|fn|en)[_-]?\d+", re.IGNORECASE)
BACK_LABELS = frozenset("↩↩︎↑^←⤴") | frozenset(["back", "return", "back to text", "go back", "return to text"])
_OPENING = " \t\r\n\u00a0[("
_BETWEEN_LABELS = _OPENING + "]),.;"
_MAX_BLANK_SIBLINGS = 20


def has_blocks(element: etree._Element) -> bool:
    return any(local_name(child) in BLOCKS for child in element.iterchildren("*"))


def are_labels(links: list[etree._Element], mark: etree._Element, label: str) -> bool:
    """Whether a link back is the label with which a note begins, or says that it leads back.

    References to and fro ("see 2", "see 1") are none, nor is what stands apart from the text unless the label is its
    own.
    """
    before = mark.getprevious()
    parent = mark.getparent()
    lead = before.tail if before is not None else parent.text if parent is not None else ""
    is_apart = (lead or "")[-1:].isspace()
    for link in links:
        text = visible_text(link)[0]
        is_label = begins_block(link) and (not is_apart or text.strip("[]() .") == label.strip("[]() ."))
        if is_label or text.lower() in BACK_LABELS:
            return True
    return False


def is_named_note(around: etree._Element, block: etree._Element) -> bool:
    """Whether a division that a note's first paragraph begins is that note by its name: `<div id="ftn1">`."""
    return (
        local_name(around) == "div"
        and _NOTE_NAME.fullmatch(around.get("id") or "") is not None
        and next(around.iterchildren("*"), None) is block
    )


def is_first_in_item(block: etree._Element) -> bool:
    parent = block.getparent()
    return (
        parent is not None
        and local_name(parent) in ("li", "dd", "td")
        and next(parent.iterchildren("*"), None) is block
    )


def names_at(link: etree._Element) -> list[str]:
    """The ids by which a note can lead back to its mark: the link's own, and of what touches or holds it."""
    nodes = [link, *link.iterchildren("*")]
    for node in link.iterancestors():
        nodes.append(node)
        if local_name(node) in BLOCKS:
            break
    previous = next(link.itersiblings("*", preceding=True), None)
    if previous is not None and not (previous.tail or "").strip():
        nodes.append(previous)
    names = [node.get(name) for node in nodes for name in ("id", "name")]
    return list(dict.fromkeys(name for name in names if name))


def _may_lead(text: str) -> bool:
    """Whether a piece may stand before a note's label: nothing, or another label."""
    return not text or MARK.fullmatch(text) is not None


def begins_block(link: etree._Element) -> bool:
    """Whether nothing but brackets comes before a link in its block: it is a note's label, not a mark."""
    node = link
    while local_name(node) not in BLOCKS and (parent := node.getparent()) is not None:
        for number, item in enumerate(node.itersiblings(preceding=True)):
            text = visible_text(item)[0].strip(_OPENING) if len(item) < 5 else "…"
            if number >= _MAX_BLANK_SIBLINGS or (item.tail or "").strip(_BETWEEN_LABELS) or not _may_lead(text):
                return False
        if (parent.text or "").strip(_OPENING):
            return False
        node = parent
    return True
