"""Verse: which elements hold it, and which of their lines make a stanza."""

from __future__ import annotations

from lxml import etree

from pipeline.manuscript.markup import local_name

_VERSE = frozenset(["verse", "poem", "poetry", "stanza", "song", "hymn", "lyrics", "linegroup", "line-group"])
_STANZA = frozenset(["stanza", "linegroup", "line-group"])


def verse_marks(element: etree._Element, tag: str, types: frozenset[str]) -> tuple[bool, bool]:
    """Whether an element says that it is verse, and that it is a stanza."""
    if tag == "linegroup":
        return True, True
    if not element.attrib:
        return False, False
    words = (element.get("class") or "").lower().split()
    marks = {word.removeprefix("z3998:").rstrip("0123456789") for word in (*words, *types)}
    return not marks.isdisjoint(_VERSE), not marks.isdisjoint(_STANZA)


def is_all_spans(element: etree._Element) -> bool:
    """Whether a block has two spans or more and no text outside them: one span a line."""
    num_spans = 0
    for child in element:
        name = local_name(child)
        if (child.tail or "").strip() or name not in ("span", "br", ""):
            return False
        num_spans += name == "span"
    return num_spans > 1 and not (element.text or "").strip()
