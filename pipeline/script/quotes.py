"""Which way quotation marks look.

Straight ones look neither way, and languages disagree about the others („So“, »so«, ”so”). What stands on
either side tells: a mark after white space opens, one before white space closes.
"""

from __future__ import annotations

import re

DOUBLE_MARKS, SINGLE_MARKS = "“”„‟«»", "‘’‚‛‹›"
"""Quotation marks but the straight ones."""
_DOUBLE, _SINGLE = f'"{DOUBLE_MARKS}', f"'{SINGLE_MARKS}"
_RUN = re.compile(rf"[{_DOUBLE}{_SINGLE}]+|\n\s*\n")
_OPEN_BY_SHAPE = frozenset("“„‟«‘‚‛‹")
_CLOSED_BY_SHAPE = frozenset("”»’›")
_DASHES = "—–―-"
_LEFT_FREE = frozenset("([{*_¿¡" + _DASHES)
_RIGHT_FREE = frozenset(".,;:!?…)]}*_" + _DASHES)


def direct_quotes(text: str) -> str:
    """Return `text` with each quotation mark as one of “ ” ‘ ’, by what it does. The length stays the same.

    An apostrophe becomes ’ within a word and after one, ‘ before one.
    """
    pieces: list[str] = []
    done = 0
    is_open = {True: False, False: False}  # by whether the mark is a single one
    for run in _RUN.finditer(text):
        if run[0].isspace():  # a paragraph ends, and its speeches with it
            is_open = {True: False, False: False}
            continue
        before, after = text[run.start() - 1 : run.start()], text[run.end() : run.end() + 1]
        pieces.append(text[done : run.start()])
        if before.isalnum() and after.isalnum() and run[0] in _SINGLE:
            pieces.append("’")
        else:
            opens = _look_around(before, after)
            for mark in run[0]:
                is_single = mark in _SINGLE
                looks = _look_at(mark, is_open[is_single]) if opens is None else opens
                if looks and mark in _CLOSED_BY_SHAPE and not is_single and is_open[is_single]:
                    looks = False  # “ ‘Never.’ ”12
                is_open[is_single] = looks
                pieces.append(("‘" if looks else "’") if is_single else ("“" if looks else "”"))
        done = run.end()
    return "".join(pieces) + text[done:]


def _look_around(before: str, after: str) -> bool | None:
    """Whether a mark between two characters ("" at an end of the text) opens; None where they don't tell."""
    is_first, is_last = not before or before.isspace(), not after or after.isspace()
    if is_first != is_last:
        return is_first
    if is_first:
        return None
    left, right = before in _LEFT_FREE, after in _RIGHT_FREE
    return left if left != right else None


def _look_at(mark: str, is_open: bool) -> bool:
    """Whether a mark opens by its own shape; a straight one does unless another of its kind is open."""
    if mark in _OPEN_BY_SHAPE or mark in _CLOSED_BY_SHAPE:
        return mark in _OPEN_BY_SHAPE
    return not is_open
