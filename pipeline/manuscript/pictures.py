"""Drop caps: first letters set in a picture, or in an element of their own."""

from __future__ import annotations

import re

from lxml import etree

from pipeline.manuscript.left_out import BLOCKS, visible_text
from pipeline.manuscript.markup import local_name
from pipeline.manuscript.prose import BLANK, clean

_INITIAL = re.compile(
    r"drop[-_]?(?:cap|letter|initial)|^drop$|initial[-_]?(?:cap|letter)?\b|first[-_]?(?:letter|char)\b|^dc$|lettrine|versal",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[“‘\"'«¿¡]?[^\W\d_]")
_WORDS_OF_A_LETTER = {"": "AIO", "en": "AIO", "de": "O", "fr": "AÀÔOY"}
_MAX_INITIAL_CHARS = 3


def is_initial(element: etree._Element, floats: bool) -> bool:
    """Whether an element holds a drop cap and nothing else, so that its word goes on after it.

    It is known by its class, or by the one letter in it if it floats at the head of a block. A block of its own holds
    one letter in any case: "No." is a paragraph, whatever its class.
    """
    name = (element.get("class") or "") if element.attrib else ""
    is_named = any(_INITIAL.search(word) for word in name.split())
    if not is_named and not floats:
        return False
    text = ""
    for piece in element.itertext():
        text += str(piece).strip()
        if len(text) > _MAX_INITIAL_CHARS:
            return False
    if is_named and local_name(element) not in BLOCKS:
        return bool(text)
    return _LETTER.fullmatch(text) is not None and _begins_block(element)


def _begins_block(element: etree._Element) -> bool:
    parent = element.getparent()
    if local_name(element) in BLOCKS or parent is None:
        return True
    return element.getprevious() is None and not (parent.text or "").strip()


def stands_alone(text: str, language: str) -> bool:
    """Whether a drop cap at the end of a text may be a word of its own, before white space."""
    words = _WORDS_OF_A_LETTER.get(language)
    return words is None or text.rstrip()[-1:] in words


def initial_of(picture: etree._Element) -> str:
    """The first letter that a picture at the head of a paragraph stands for, or an empty string.

    Its word must go on right after it, or its class must say so; where the text has the whole word, it adds nothing.
    """
    letter = clean(picture.get("alt") or "")
    if not _LETTER.fullmatch(letter):
        return ""
    parent = picture.getparent()
    after = picture.tail or ""
    if not after and parent is not None and picture.getnext() is None:
        after = parent.tail or ""  # <span class="dropcap"><img/></span>
    following = picture.getnext()
    if not after and following is not None and local_name(following) not in BLOCKS:
        after = visible_text(following)[0]
    around = (picture, parent) if parent is not None else (picture,)
    is_named = any("drop" in (item.get("class") or "").lower() for item in around)
    rest = after.lstrip(BLANK)
    has_whole_word = rest[:1] == letter[-1:].upper() and rest[1:2].islower()
    return letter if (is_named or after[:1].isalpha()) and not has_whole_word else ""
