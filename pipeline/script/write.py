"""From a book to its script: every block spoken, split, prepared and given its key."""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from pipeline.engines.base import Frontend
from pipeline.manuscript.book import Block, Book, Chapter, Kind
from pipeline.script.lexicon import Lexicon, respell
from pipeline.script.rewriting import Rewriting, rewrite
from pipeline.script.script import Boundary, Chunk, Script, ScriptChapter, TextSpan, Unspoken
from pipeline.script.splitter import (
    CUT_IN_WORD,
    SHORT_ALONE,
    Piece,
    Run,
    num_words,
    run_text,
    split_section,
)
from pipeline.script.spoken import speak

_KEY_FORM = 1  # raised when what is hashed changes, so that no old take is taken for a new one


@dataclass(frozen=True, slots=True)
class ScriptRules:
    """What a script depends on besides the book and the engine's frontend.

    A chunk has fewer than `max_tokens` tokens; a chunk of fewer than `min_words` words rides with a
    neighbour. `voice_digest`, `sampling` and `seed` only enter the keys.
    """

    max_tokens: int
    min_words: int
    voice_digest: str
    seed: int
    sampling: Mapping[str, float] = field(default_factory=dict)
    lexicon: Lexicon | None = None


def write_script(book: Book, rules: ScriptRules, frontend: Frontend) -> Script:
    """Say how a book will be read aloud: pure, and the same for the same book, rules and frontend."""
    language = book.language or "en"
    occurrences: Counter[str] = Counter()
    chapters = []
    for chapter in book.chapters:
        rewritings = tuple(_speak(block, language, rules.lexicon) for block in chapter.blocks)
        spoken = tuple(rewrite(block.text, said) for block, said in zip(chapter.blocks, rewritings, strict=True))
        drafts, unspoken = _split_chapter(chapter, spoken, language, rules, frontend)
        chunks = []
        for draft in drafts:
            occurrence = occurrences[draft.prepared]
            occurrences[draft.prepared] += 1
            chunks.append(replace(draft, key=chunk_key(draft.prepared, occurrence, rules, frontend)))
        kept, reason = chapter.kept, chapter.reason
        if kept and not chunks:
            kept, reason = False, "nothing to say"
        chapters.append(
            ScriptChapter(
                chapter.index, chapter.title, kept, reason, spoken, rewritings, tuple(chunks), tuple(unspoken)
            )
        )
    return Script(book.title, book.authors, book.language, tuple(chapters))


def chunk_key(prepared: str, occurrence: int, rules: ScriptRules, frontend: Frontend) -> str:
    """Hash all that changes how a chunk sounds: 20 hex digits, so that two of a book's never meet."""
    spec = frontend.spec
    return _digest(
        _KEY_FORM,
        prepared,
        occurrence,
        [spec.name, spec.revision, spec.tokenizer],
        rules.voice_digest,
        dict(rules.sampling),
        rules.seed,
    )


def part_key(parent: str, attempt: int, part: int, prepared: str) -> str:
    """The key of a part of a chunk that was split since it would not render whole."""
    return _digest(parent, attempt, part, prepared)


def _digest(*values: Any) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:20]


def _speak(block: Block, language: str, lexicon: Lexicon | None) -> tuple[Rewriting, ...]:
    """How what is said of a block differs from what is written. The lexicon has the first word, and the last."""

    def speak_here(text: str) -> tuple[Rewriting, ...]:
        return speak(text, language, is_heading=block.kind is Kind.HEADING).rewritings

    return respell(block.text, lexicon, speak_here) if lexicon else speak_here(block.text)


@dataclass(frozen=True, slots=True)
class _Section:
    """Consecutive blocks between headings and scene breaks, as paragraphs of one or more blocks.

    `text` is the paragraphs joined by newlines; block `numbers[i]` starts in it at `starts[i]`.
    """

    paragraphs: tuple[str, ...]
    text: str
    numbers: tuple[int, ...]
    starts: tuple[int, ...]
    is_heading: bool


def _split_chapter(
    chapter: Chapter, spoken: Sequence[str], language: str, rules: ScriptRules, frontend: Frontend
) -> tuple[list[Chunk], list[Unspoken]]:
    def fits(text: str, ends: Boundary) -> bool:
        return frontend.num_tokens(frontend.prepare(text, ends)) < rules.max_tokens

    chunks: list[Chunk] = []
    unspoken: list[Unspoken] = []
    for section in _sections(chapter.blocks, spoken):
        if section is None:
            if chunks:
                chunks[-1] = replace(chunks[-1], ends=Boundary.SCENE)
            continue
        min_words = 0 if section.is_heading else rules.min_words
        runs, silent = split_section(section.paragraphs, language, fits, min_words)
        for i, run in enumerate(runs):
            ends = run[-1].ends
            if section.is_heading and i == len(runs) - 1:
                ends = Boundary.HEADING
            chunks.append(_draft(section, run, ends, chapter.index, len(chunks), min_words, frontend))
        for piece in silent:
            for span in _text_spans(section, piece):
                unspoken.append(Unspoken(spoken[span.block][span.start : span.end], span))
    if chunks:
        # The key was made from the text alone: a later boundary changes the gap, never the sound.
        chunks[-1] = replace(chunks[-1], ends=Boundary.CHAPTER)
    return chunks, unspoken


def _sections(blocks: Sequence[Block], spoken: Sequence[str]) -> list[_Section | None]:
    """A chapter's sections in order; None stands for a scene break."""
    sections: list[_Section | None] = []
    for kind, numbered in groupby(enumerate(blocks), key=lambda item: _section_kind(item[1])):
        if kind is Kind.BREAK:
            sections.append(None)
        elif kind is Kind.HEADING:
            sections += [_section([number], blocks, spoken) for number, _ in numbered]
        else:
            sections.append(_section([number for number, _ in numbered], blocks, spoken))
    return sections


def _section_kind(block: Block) -> Kind:
    return block.kind if block.kind in (Kind.HEADING, Kind.BREAK) else Kind.PARAGRAPH


def _section(numbers: Sequence[int], blocks: Sequence[Block], spoken: Sequence[str]) -> _Section:
    paragraphs: list[str] = []
    starts = []
    offset = 0
    for number in numbers:
        text = spoken[number]
        if paragraphs and blocks[number].continues:
            paragraphs[-1] += " " + text
        else:
            paragraphs.append(text)
        starts.append(offset)
        offset += len(text) + 1  # the space or the newline between two blocks
    return _Section(
        tuple(paragraphs),
        "\n".join(paragraphs),
        tuple(numbers),
        tuple(starts),
        blocks[numbers[0]].kind is Kind.HEADING,
    )


def _draft(
    section: _Section,
    run: Run,
    ends: Boundary,
    chapter: int,
    index: int,
    min_words: int,
    frontend: Frontend,
) -> Chunk:
    text = run_text(section.text, run)
    prepared = frontend.prepare(text, ends)
    findings = []
    if any(piece.cut_in_word for piece in run):
        findings.append(CUT_IN_WORD)
    if num_words(text) < min_words:
        findings.append(SHORT_ALONE)
    return Chunk(
        key="",
        text=text,
        prepared=prepared,
        num_tokens=frontend.num_tokens(prepared),
        spans=_merge([span for piece in run for span in _text_spans(section, piece)]),
        chapter=chapter,
        index=index,
        ends=ends,
        findings=tuple(findings),
    )


def _text_spans(section: _Section, piece: Piece) -> list[TextSpan]:
    """Where a piece of a section lies in the chapter's spoken blocks."""
    spans = []
    for i in range(max(bisect_right(section.starts, piece.start) - 1, 0), len(section.starts)):
        start = section.starts[i]
        if start >= piece.end:
            break
        end = section.starts[i + 1] - 1 if i + 1 < len(section.starts) else len(section.text)
        if piece.start < end:
            spans.append(TextSpan(section.numbers[i], max(piece.start, start) - start, min(piece.end, end) - start))
    return spans


def _merge(spans: Sequence[TextSpan]) -> tuple[TextSpan, ...]:
    merged: list[TextSpan] = []
    for span in spans:
        if merged and merged[-1].block == span.block and merged[-1].end == span.start:
            merged[-1] = replace(merged[-1], end=span.end)
        else:
            merged.append(span)
    return tuple(merged)
