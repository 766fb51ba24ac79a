"""Places where a text is said otherwise than it is written, and how two passes over it become one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


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


def compose(text: str, first: Sequence[Rewriting], second: Sequence[Rewriting]) -> tuple[Rewriting, ...]:
    """The rewritings of `text` that say what `second` makes of what `first` made of it.

    Where both touch the same place, one rewriting covers what either covers, under both rules' names.
    """
    if not second or not first:
        return tuple(first or second)
    composed: list[Rewriting] = []
    growth = 0  # from the text as written to the text between, before the edits at hand
    i = j = 0
    while i < len(first) and j < len(second):
        one, other = first[i], second[j]
        start = one.start + growth
        end = start + len(one.said)
        is_point = start == end or other.start == other.end
        if end < other.start or (end == other.start and not is_point):
            composed.append(one)
            growth += len(one.said) - (one.end - one.start)
            i += 1
        elif other.end < start or (other.end == start and not is_point):
            composed.append(Rewriting(other.rule, other.start - growth, other.end - growth, other.said))
            j += 1
        else:
            group, i, j, growth = _compose_group(text, first, i, second, j, growth)
            composed.append(group)
    composed += first[i:]
    composed += (Rewriting(one.rule, one.start - growth, one.end - growth, one.said) for one in second[j:])
    return tuple(composed)


def _compose_group(
    text: str, first: Sequence[Rewriting], i: int, second: Sequence[Rewriting], j: int, growth: int
) -> tuple[Rewriting, int, int, int]:
    """One rewriting for those of both passes that touch, from `first[i]` and `second[j]` on, and where to go on."""
    next_i, next_j, growth_after = i, j, growth
    start = end = min(first[i].start + growth, second[j].start)
    while True:
        if next_i < len(first) and (next_i == i or first[next_i].start + growth_after <= end):
            one = first[next_i]
            end = max(end, one.start + growth_after + len(one.said))
            growth_after += len(one.said) - (one.end - one.start)
            next_i += 1
        elif next_j < len(second) and (next_j == j or second[next_j].start <= end):
            end = max(end, second[next_j].end)
            next_j += 1
        else:
            break
    written_start, written_end = start - growth, end - growth_after
    between = _rewrite_part(text, written_start, written_end, first[i:next_i], 0)
    said = _rewrite_part(between, 0, len(between), second[j:next_j], start)
    rule = ", ".join(dict.fromkeys(one.rule for one in (*first[i:next_i], *second[j:next_j])))
    return Rewriting(rule, written_start, written_end, said), next_i, next_j, growth_after


def _rewrite_part(text: str, start: int, end: int, rewritings: Sequence[Rewriting], shift: int) -> str:
    pieces = []
    for one in rewritings:
        pieces += [text[start : one.start - shift], one.said]
        start = one.end - shift
    return "".join(pieces) + text[start:end]
