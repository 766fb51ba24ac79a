"""Places where a text is said otherwise than it is written, and how two passes over it become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Characters `start` to `end` of the text as written, what is said in their place, and by which rule.

    The rewritings of a text are in order and don't overlap; what lies between them is said as it is written.
    """

    rule: str
    start: int
    end: int
    said: str


def rewrite(text: str, rewritings: Sequence[Rewriting]) -> str:
    """The text as it is said."""
    pieces = []
    done = 0
    for one in rewritings:
        pieces += [text[done : one.start], one.said]
        done = one.end
    return "".join(pieces) + text[done:]


class _Edit(NamedTuple):
    """A rewriting by its place in the text between the two passes."""

    start: int
    end: int
    is_second: bool
    one: Rewriting


def compose(text: str, first: Sequence[Rewriting], second: Sequence[Rewriting]) -> tuple[Rewriting, ...]:
    """The rewritings of `text` that say what `second` makes of what `first` made of it.

    Where both touch the same place, one rewriting covers what either covers, under both rules' names.
    """
    if not second or not first:
        return tuple(first or second)
    between = rewrite(text, first)
    edits = sorted(
        [*_as_edits(first), *(_Edit(one.start, one.end, True, one) for one in second)], key=lambda edit: edit[:3]
    )
    composed = []
    shift = 0  # from the text between to the text as written, before the group at hand
    for group in _groups(edits):
        start, end = group[0].start, max(edit.end for edit in group)
        growth = sum(len(edit.one.said) - (edit.one.end - edit.one.start) for edit in group if not edit.is_second)
        said, done = "", start
        for edit in group:
            if edit.is_second:
                said += between[done : edit.start] + edit.one.said
                done = edit.end
        said += between[done:end]
        rule = ", ".join(dict.fromkeys(edit.one.rule for edit in group))
        composed.append(Rewriting(rule, start + shift, end + shift - growth, said))
        shift -= growth
    return tuple(composed)


def _as_edits(first: Sequence[Rewriting]) -> list[_Edit]:
    edits = []
    growth = 0
    for one in first:
        start = one.start + growth
        edits.append(_Edit(start, start + len(one.said), False, one))
        growth += len(one.said) - (one.end - one.start)
    return edits


def _groups(edits: Sequence[_Edit]) -> list[list[_Edit]]:
    """Edits that overlap, or of which one has no width and touches the other."""
    groups: list[list[_Edit]] = []
    end = 0
    for edit in edits:
        touches = bool(groups) and edit.start == end and (edit.start == edit.end or groups[-1][-1].start == end)
        if groups and (edit.start < end or touches):
            groups[-1].append(edit)
            end = max(end, edit.end)
        else:
            groups.append([edit])
            end = edit.end
    return groups
