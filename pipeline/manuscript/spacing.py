"""Changes of scene that no text shows: empty paragraphs, and pictures of ornaments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from lxml import etree

from pipeline.manuscript.markup import local_name
from pipeline.manuscript.prose import BLANK, clean, is_ornament

_ORNAMENT = re.compile(
    r"ornament|asterism|fleuron|flourish|dinkus|divider|separator|(?:scene|section|thought|story|space|text)[-_]?break",
    re.IGNORECASE,
)
_INSIDE = frozenset(["br", "span", "b", "i", "em", "strong", "font", "small", ""])
_MAX_PICTURES = 5
_TEXT_AROUND = frozenset(["p", "div", "blockquote"])
_MAX_SHARE = 4  # more than one in so many gaps between paragraphs, and the empty ones only space them out


def find_spacers(root: etree._Element) -> set[etree._Element]:
    """The empty paragraphs that are changes of scene.

    In a file that has them between most of its paragraphs, only longer runs of them are.
    """
    paragraphs = [element for element in root.iter("*") if local_name(element) == "p"]
    runs = [(list(run), is_blank) for is_blank, run in groupby(paragraphs, key=_is_blank)]
    num_gaps = sum(len(run) for run, is_blank in runs if not is_blank)
    by_length: dict[int, list[etree._Element]] = {}
    for run, is_blank in runs:
        if is_blank and _stands_between_text(run[0], run[-1]):
            by_length.setdefault(min(len(run), 3), []).append(run[0])
    for shortest in (1, 2, 3):
        found = [first for length, firsts in by_length.items() if length >= shortest for first in firsts]
        if len(found) * _MAX_SHARE <= max(num_gaps, _MAX_SHARE):
            return set(found)
    return set()


def _is_blank(element: etree._Element) -> bool:
    if (element.text or "").strip(BLANK):
        return False
    for inner in element.iterdescendants():
        if local_name(inner) not in _INSIDE or inner.get("id") or (inner.tail or "").strip(BLANK):
            return False
        if isinstance(inner.tag, str) and (inner.text or "").strip(BLANK):
            return False
    return True


def _stands_between_text(first: etree._Element, last: etree._Element) -> bool:
    before = next(first.itersiblings("*", preceding=True), None)
    after = next(last.itersiblings("*"), None)
    return (
        before is not None
        and after is not None
        and local_name(before) in _TEXT_AROUND
        and local_name(after) in _TEXT_AROUND
    )


def is_ornament_picture(classes: str, pictures: Sequence[etree._Element]) -> bool:
    """Whether a block that has no text shows an ornament, by its classes or those of its pictures."""
    if len(pictures) > 1:
        return len(pictures) <= _MAX_PICTURES and all(shows_ornament(picture) for picture in pictures)
    return _ORNAMENT.search(classes) is not None or any(shows_ornament(picture) for picture in pictures)


def shows_ornament(picture: etree._Element) -> bool:
    alt = clean(picture.get("alt") or "")
    source = (picture.get("src") or "").rpartition("/")[2]
    return (
        any(_ORNAMENT.search(text) for text in (picture.get("class") or "", source))
        or (len(alt) <= 40 and _ORNAMENT.search(alt) is not None)
        or is_ornament(alt)
    )
