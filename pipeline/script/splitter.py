"""From spoken text to chunks under the token budget: cut long sentences, pack short ones.

The unit of work is a *section*: the paragraphs between two headings or scene breaks of a chapter, as one
string. Pieces abut, so nothing can fall between two of them; a chunk is a run of pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import regex

from pipeline.engines.base import with_stop
from pipeline.script.script import Boundary
from pipeline.script.sentences import sentence_spans

Fits = Callable[[str, Boundary], bool]
"""Whether a text that ends at a boundary stays under the budget once prepared."""

CUT_IN_WORD = "s-001 cut inside a word: the word alone reaches the token budget"
SHORT_ALONE = "s-002 one or two words alone: no neighbour to ride with"

# After a mark that a space follows ("1,200" and "3:30" are no clauses), any dash, or before a bracket.
_CLAUSE = re.compile(r"[;:,)\]][\"'”’»)\]]*(?=\s)|—+[\"'”’»,;:.!?)\]]*|(?<=\s)(?=[(\[])")
_WORD_GAP = re.compile(r"(?<=\S)\s+(?=\S)")
_LEADING_MARKS = re.compile(r"\A(?:[,;:—–]|-(?=\s)|\s)+(?=.)")
_SPEAKABLE = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or a clause of a section: characters `start` to `end`, trailing space included."""

    start: int
    end: int
    ends: Boundary
    cut_in_word: bool = False


class Cut(NamedTuple):
    at: int
    in_word: bool


Run = list[Piece]
"""Consecutive pieces that are spoken as one chunk."""


def num_words(text: str) -> int:
    return len(_WORD.findall(text))


def is_speakable(text: str) -> bool:
    """Whether there is a letter or a digit in it."""
    return _SPEAKABLE.search(text) is not None


def split_section(
    paragraphs: Sequence[str], language: str, fits: Fits, min_words: int
) -> tuple[list[Run], list[Piece]]:
    """Split a section into the runs that become chunks, and the pieces that nobody speaks.

    Piece offsets are in `"\\n".join(paragraphs)`. Every character but those joints lies in exactly one piece.
    """
    text = "\n".join(paragraphs)
    runs: list[Run] = []
    unspoken: list[Piece] = []
    offset = 0
    for paragraph in paragraphs:
        spoken: Run = []
        for piece in _cut_paragraph(text, offset, offset + len(paragraph), language, fits):
            (spoken if is_speakable(text[piece.start : piece.end]) else unspoken).append(piece)
        if spoken:
            spoken[-1] = replace(spoken[-1], ends=Boundary.PARAGRAPH)
        runs += _pack(text, spoken, fits)
        offset += len(paragraph) + 1
    return _let_short_ones_ride(text, runs, fits, min_words), unspoken


def run_text(text: str, run: Run) -> str:
    """What a run says. Inside it, a paragraph that ends without a mark gets the stop that is heard there."""
    parts = [" ".join(text[piece.start : piece.end].split()) for piece in run]
    for i, piece in enumerate(run[:-1]):
        if piece.ends is not Boundary.CLAUSE and piece.ends is not Boundary.SENTENCE:
            parts[i] = with_stop(parts[i])
    return _LEADING_MARKS.sub("", " ".join(parts)) if parts else ""


def halve(text: str, language: str) -> tuple[str, str, Boundary] | None:
    """Cut a chunk that would not render in two, where it hurts least; None where nothing is left to cut.

    Returns both texts and what the first one ends at.
    """
    starts = [start for start, _ in sentence_spans(text, language)[1:]]
    for cuts, ends in (
        (starts, Boundary.SENTENCE),
        (_clause_cuts(text, 0, len(text)), Boundary.CLAUSE),
        (_word_cuts(text, 0, len(text)), Boundary.CLAUSE),
    ):
        usable = _speakable_cuts(text, 0, len(text), cuts)
        if usable:
            at = min(usable, key=lambda at: abs(2 * at - len(text)))
            return text[:at].strip(), text[at:].strip(), ends
    return None


def _cut_paragraph(text: str, start: int, end: int, language: str, fits: Fits) -> list[Piece]:
    """The sentences of `text[start:end]`, abutting; those over the budget cut into clauses."""
    starts = [start + s for s, _ in sentence_spans(text[start:end], language)]
    if not starts:
        return [Piece(start, end, Boundary.SENTENCE)] if end > start else []
    bounds = [start, *starts[1:], end]
    pieces: list[Piece] = []
    for a, b in pairwise(bounds):
        pieces += _cut_sentence(text, Piece(a, b, Boundary.SENTENCE), fits)
    return pieces


def _cut_sentence(text: str, sentence: Piece, fits: Fits) -> list[Piece]:
    """Cut near the middle, again and again, until each part is under the budget."""
    done: list[Piece] = []
    todo = [sentence]
    while todo:
        piece = todo.pop()
        body = " ".join(text[piece.start : piece.end].split())
        cut = None if fits(body, piece.ends) else _best_cut(text, piece.start, piece.end)
        if cut is None:
            done.append(piece)
            continue
        todo.append(replace(piece, start=cut.at, cut_in_word=piece.cut_in_word or cut.in_word))
        todo.append(Piece(piece.start, cut.at, Boundary.CLAUSE, piece.cut_in_word or cut.in_word))
    return done


def _best_cut(text: str, start: int, end: int) -> Cut | None:
    """At a clause mark; failing that between words; failing that between graphemes, then characters."""
    middle = (start + end) / 2
    clauses = _speakable_cuts(text, start, end, _clause_cuts(text, start, end))
    if clauses:
        return Cut(min(clauses, key=lambda at: _cost(text, at, middle, end - start)), False)
    gaps = _word_cuts(text, start, end)
    words = _speakable_cuts(text, start, end, gaps) or gaps  # else marks alone: they will go unspoken
    if words:
        return Cut(min(words, key=lambda at: abs(at - middle)), False)
    body_end = start + len(text[start:end].rstrip())
    graphemes = [m.start() for m in regex.finditer(r"\X", text, pos=start, endpos=body_end)]
    inside = [at for at in graphemes if at > start] or list(range(start + 1, body_end))
    if not inside:
        return None
    return Cut(min(inside, key=lambda at: abs(at - middle)), True)


def _cost(text: str, at: int, middle: float, length: int) -> float:
    """Distance from the middle in lengths of the piece; a strong mark may lie a little further off."""
    mark = text[max(0, at - 20) : at].rstrip("\"'”’»)] ")[-1:]
    return abs(at - middle) / length - (0.15 if mark in ";:—" else 0.0)


def _clause_cuts(text: str, start: int, end: int) -> list[int]:
    return [m.end() for m in _CLAUSE.finditer(text, start, end)]


def _word_cuts(text: str, start: int, end: int) -> list[int]:
    return [m.end() for m in _WORD_GAP.finditer(text, start, end)]


def _speakable_cuts(text: str, start: int, end: int, cuts: Iterable[int]) -> list[int]:
    """The cuts with a letter or digit on either side."""
    first = _SPEAKABLE.search(text, start, end)
    if first is None:
        return []
    last = end
    while not _SPEAKABLE.match(text[last - 1]):
        last -= 1
    return [at for at in cuts if first.end() <= at < last]


def _pack(text: str, pieces: Run, fits: Fits) -> list[Run]:
    """Fill chunks with the consecutive pieces of one paragraph, as many as the budget allows."""
    runs: list[Run] = []
    for piece in pieces:
        if runs and fits(run_text(text, [*runs[-1], piece]), piece.ends):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    return runs


def _let_short_ones_ride(text: str, runs: list[Run], fits: Fits, min_words: int) -> list[Run]:
    """Join a run of fewer than `min_words` words to a neighbour of its paragraph, else to the next
    paragraph, else to the one before: alone such texts are garbled far more often (40% against 2%)."""
    i = 0
    while i < len(runs):
        if num_words(run_text(text, runs[i])) >= min_words:
            i += 1
            continue
        for left in _neighbours(runs, i):
            joined = _join(text, runs[left], runs[left + 1], fits, min_words)
            if joined is not None:
                runs[left : left + 2] = joined
                i = left
                break
        else:
            i += 1
    return runs


def _neighbours(runs: list[Run], i: int) -> list[int]:
    """The pairs (by their left member) that run `i` may be joined in, best first."""
    pairs = []
    after_paragraph = i > 0 and runs[i - 1][-1].ends is Boundary.PARAGRAPH
    if i > 0 and not after_paragraph:
        pairs.append(i - 1)
    if i + 1 < len(runs):
        pairs.append(i)
    if after_paragraph:
        pairs.append(i - 1)
    return pairs


def _join(text: str, left: Run, right: Run, fits: Fits, min_words: int) -> list[Run] | None:
    """One run where the budget allows it; else two, cut elsewhere at a sentence or clause; else None."""
    both = left + right
    if fits(run_text(text, both), both[-1].ends):
        return [both]
    best: tuple[float, list[Run]] | None = None
    middle = (both[0].start + both[-1].end) / 2
    for a, b in _recut(text, both):
        ok = all(
            fits(run_text(text, run), run[-1].ends) and num_words(run_text(text, run)) >= min_words for run in (a, b)
        )
        cost = abs(b[0].start - middle)
        if ok and (best is None or cost < best[0]):
            best = (cost, [a, b])
    return best[1] if best else None


def _recut(text: str, run: Run) -> Iterable[tuple[Run, Run]]:
    """Every way to cut a run in two: between its pieces, and at the clause marks inside them."""
    for i, piece in enumerate(run):
        if i > 0:
            yield run[:i], run[i:]
        for at in _speakable_cuts(text, piece.start, piece.end, _clause_cuts(text, piece.start, piece.end)):
            head = Piece(piece.start, at, Boundary.CLAUSE, piece.cut_in_word)
            yield [*run[:i], head], [replace(piece, start=at), *run[i + 1 :]]
