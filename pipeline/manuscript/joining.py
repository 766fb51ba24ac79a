"""A paragraph, or a word, that the border between two files cuts in two."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pipeline.manuscript.book import Block, Kind, LeftOut
from pipeline.manuscript.document import Document
from pipeline.manuscript.prose import ends_sentence

_LONG_CHARS = 80
_GOES_ON = re.compile(
    r"(?:\b(?:a|an|the|of|and|or|but|nor|to|in|into|on|at|by|for|from|with|as|than|that|his|her|its|my|our|your|their"
    r"|was|were|is|are|be|been|had|has|not)|\b(?:Mr|Mrs|Ms|Dr|St|Prof|Capt|Col|Gen|Rev)\.|[,;:–—-])$"
)
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"([^\W\d_]+)([-‐\u00ad]?)$")


def is_cut(before: Block, after: Block) -> bool:
    """Whether a paragraph goes on in the next file: it ends without a mark, and what follows reads on from it.

    Before a small letter that is sure. Before a capital, it is where the last word can end no sentence ("to meet
    the"), or the paragraph is too long to be a heading, a signature or a line of verse.
    """
    if not (before.kind is after.kind is Kind.PARAGRAPH) or not after.text:
        return False
    goes_on = _GOES_ON.search(before.text) is not None
    if after.text[0].islower():
        return goes_on or not ends_sentence(before.text)
    if ends_sentence(before.text):
        return goes_on and after.text[0].isupper()  # "to Mr." and "Lorry"
    return goes_on or (len(before.text) > _LONG_CHARS and after.text[0].isalpha())


def join_word(
    before: Block, after: Block, first: Document, second: Document, is_word: Callable[[str], bool]
) -> tuple[Block, Block]:
    """A word cut by the border becomes whole in the block before; what it leaves behind is listed as left out.

    `is_word` says whether the book has a word elsewhere: it tells "exam-/ple" from "well-/known".
    """
    left = _LAST_WORD.search(before.text + ("\u00ad" if first.closing.endswith("\u00ad") else ""))
    right = _FIRST_WORD.match(after.text)
    if not left or not left[2] or not right or not second.opening.startswith(right[0]) or not right[0][0].islower():
        return before, after
    keeps_hyphen = (
        left[2] in "-‐"
        and not is_word((left[1] + right[0]).lower())
        and (is_word(left[1].lower()) and is_word(right[0].lower()))
    )
    text = before.text
    if left[2] in "-‐" and not keeps_hyphen:
        text = text[:-1]
        end = before.span.end
        first.left_out.append(
            LeftOut(before.text[-1], "hyphen at a file's border", replace(before.span, start=end - 1))
        )
    start = after.span.start
    hole = replace(after.span, end=start + len(right[0]))
    second.left_out.append(LeftOut(right[0], "end of a word that the file before begins", hole))
    whole = replace(before, text=text + right[0], added=(*before.added, (len(text), len(text) + len(right[0]))))
    gap = len(right[0]) + (after.text[len(right[0]) : len(right[0]) + 1] == " ")
    added = tuple((begin - gap, end - gap) for begin, end in after.added)
    return whole, replace(after, text=after.text[gap:], added=added)
