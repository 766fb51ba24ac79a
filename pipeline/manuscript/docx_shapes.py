"""What lies in a Word document beside runs of text: boxes, equations, symbols, and empty paragraphs."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from pipeline.manuscript.docx_styles import child
from pipeline.manuscript.markup import local_name
from pipeline.manuscript.prose import clean

GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_\u0305αβχδεφγηιϕκλμνοπθρστυϖωξψζ"
"""What the font Symbol shows for the letters from A to z."""
_MIN_PARAGRAPHS = 8
_MAX_SHARE_EMPTY = 0.25


def choose_alternative(element: etree._Element) -> etree._Element:
    """What a current Word shows of alternatives."""
    choice = child(element, "choice")
    fallback = child(element, "fallback")
    has_text = choice is not None and next(choice.iter("{*}t", "{*}delText"), None) is not None
    return (
        choice if choice is not None and (has_text or fallback is None) else element if fallback is None else fallback
    )


def find_text_boxes(element: etree._Element) -> Iterator[etree._Element]:
    walk = etree.iterwalk(element, events=("start",))
    for _, inner in walk:
        name = local_name(inner)
        if name == "txbxcontent":
            yield inner
            walk.skip_subtree()
        elif name == "fallback" and inner.getparent() is not None:
            parent = inner.getparent()
            if parent is not None and choose_alternative(parent) is not inner:
                walk.skip_subtree()


def has_text(paragraph: etree._Element) -> bool:
    return any((text.text or "").strip() for text in paragraph.iter("{*}t"))


def read_formula(element: etree._Element) -> str:
    """The letters of an equation in their order, a fraction's with a stroke between them."""
    pieces: list[str] = []
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        name = local_name(inner)
        if event == "start" and name == "t":
            pieces.append(inner.text or "")
        elif event == "end" and name == "num":
            pieces.append("/")
    return "".join(pieces)


def _is_empty(element: etree._Element) -> bool:
    return element.tag == "p" and len(element) == 0 and not clean(element.text or "")


def mark_scenes(body: etree._Element) -> None:
    """Turn empty paragraphs between paragraphs into breaks, unless they are how all paragraphs are set apart."""
    blocks = list(body)
    is_empty = [_is_empty(block) for block in blocks]
    num_filled = len(blocks) - sum(is_empty)
    runs = [i for i, empty in enumerate(is_empty) if empty and i and not is_empty[i - 1]]
    between = [i for i in runs if blocks[i - 1].tag == "p" and _next_filled(blocks, is_empty, i) == "p"]
    if num_filled >= _MIN_PARAGRAPHS and len(between) <= _MAX_SHARE_EMPTY * num_filled:
        for i in between:
            blocks[i].tag = "hr"
            blocks[i].text = None


def _next_filled(blocks: list[etree._Element], is_empty: list[bool], i: int) -> str:
    while i < len(blocks) and is_empty[i]:
        i += 1
    return str(blocks[i].tag) if i < len(blocks) else ""
