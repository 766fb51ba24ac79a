"""A script as its author checks it: JSON for programs (docs/plan.md), lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from pipeline.manuscript.book import Block, Book
from pipeline.script.rewriting import Rewriting, rewrite
from pipeline.script.script import Boundary, Script
from pipeline.script.unknown import unknown_words

SECONDS_PER_LETTER = 0.077
"""Of speech, measured on the demo with the voice joe; the expected hours are made of it and the gaps."""

GapMs = Callable[[Boundary], int]


def script_as_dict(book: Book, script: Script, gap_ms: GapMs) -> dict[str, Any]:
    """The form that `plan --json` prints."""
    return {
        "title": script.title,
        "authors": list(script.authors),
        "language": script.language,
        "expected_hours": round(expected_hours(script, gap_ms), 3),
        "chapters": [
            {
                "index": chapter.index,
                "title": chapter.title,
                "kept": chapter.kept,
                "reason": chapter.reason,
                "num_words": chapter.num_words,
                "chunks": [
                    {
                        "id": chunk.key,
                        "text": chunk.text,
                        "num_tokens": chunk.num_tokens,
                        "pause_after_ms": gap_ms(chunk.ends),
                        "findings": list(chunk.findings),
                    }
                    for chunk in (chapter.chunks if chapter.kept else ())
                ],
                "unspoken": [piece.text for piece in (chapter.unspoken if chapter.kept else ())],
            }
            for chapter in script.chapters
        ],
        "left_out": [
            {"text": left.text, "reason": left.reason, "file": left.span.file, "node": left.span.node}
            for left in book.left_out
        ],
        "notes": list(book.notes),
    }


def script_as_lines(book: Book, script: Script, gap_ms: GapMs) -> Iterator[str]:
    """The plan for a terminal: what is read, what isn't and why, and how long it will be."""
    by = f" by {', '.join(script.authors)}" if script.authors else ""
    yield f"{script.title}{by} ({script.language})"
    for note in book.notes:
        yield f"  note: {note}"
    yield ""
    yield "  chapter                                             words  chunks"
    for chapter, source in zip(script.chapters, book.chapters, strict=True):
        title = chapter.title if len(chapter.title) <= 44 else chapter.title[:43] + "…"
        if chapter.kept:
            counts = f"{chapter.num_words:>6}  {len(chapter.chunks):>6}  {source.matter}"
            yield f"  {chapter.index:>3}  {title:<44}  {counts}".rstrip()
        else:
            yield f"  {chapter.index:>3}  {title:<44}  not read: {chapter.reason}"
    left_out = [left for left in book.left_out if left.reason != "document head"]
    if left_out:
        yield ""
        yield "  left out inside the chapters (the texts are in plan --json):"
        for reason in dict.fromkeys(left.reason for left in left_out):
            texts = [left.text for left in left_out if left.reason == reason]
            yield f"    {len(texts):>4} x {reason}, such as {_short(texts[0])}"
    findings = [finding for chunk in script.chunks for finding in chunk.findings]
    if findings:
        yield ""
        yield "  read, and worth a look:"
        for finding in dict.fromkeys(findings):
            yield f"    {findings.count(finding):>4} x {finding.split(' ', 1)[1]}"
    yield ""
    words = sum(chapter.num_words for chapter in script.chapters if chapter.kept)
    yield f"  {words} words, {len(script.chunks)} chunks, about {_hours(expected_hours(script, gap_ms))}"


def spoken_as_lines(book: Book, script: Script) -> Iterator[str]:
    """What is said otherwise than it is written, by rule, and the words no dictionary knows. Mere marks come last."""
    by_rule: dict[str, Counter[tuple[str, str]]] = {}
    for block, rewritings in _blocks_read(book, script):
        for one in rewritings:
            by_rule.setdefault(one.rule, Counter())[block.text[one.start : one.end], one.said] += 1

    def order(rule: str) -> tuple[bool, int]:
        has_words = any(char.isalnum() for was, said in by_rule[rule] for char in was + said)
        return not has_words, -by_rule[rule].total()

    for rule in sorted(by_rule, key=order):
        yield f"{rule} ({by_rule[rule].total()})"
        for (was, said), count in by_rule[rule].most_common():
            yield f"  {count:>5} x {_shorten(was)!r} -> {_shorten(said)!r}"
        yield ""
    unknown = unknown_words("\n".join(_texts_beside_lexicon(book, script)), script.language)
    if unknown:
        yield f"Words that no dictionary knows ({len(unknown)}): a lexicon (--lexicon) can say how they are read."
        for word in sorted(unknown, key=str.casefold):
            yield f"  {word}"


def _texts_beside_lexicon(book: Book, script: Script) -> Iterator[str]:
    """What is read, as it is written, without the words that a lexicon says how to say."""
    for block, rewritings in _blocks_read(book, script):
        yield rewrite(block.text, [replace(one, said="") for one in rewritings if "lexicon: " in one.rule])


def _blocks_read(book: Book, script: Script) -> Iterator[tuple[Block, Sequence[Rewriting]]]:
    for chapter, written in zip(book.chapters, script.chapters, strict=True):
        if written.kept:
            yield from zip(chapter.blocks, written.rewritings, strict=True)


def job_as_lines(books: Iterable[tuple[str, Script | str, float]]) -> Iterator[str]:
    """The plan of a job: a line a book (its source; its script or why there is none; its hours), then the sum."""
    yield "  book                                              words  chunks  audio"
    num_books, num_words, num_chunks, num_hours = 0, 0, 0, 0.0
    for source, script, hours in books:
        num_books += 1
        if isinstance(script, str):
            yield f"  {source[-44:]:<44}  can't be planned: {script}"
            continue
        words = sum(chapter.num_words for chapter in script.chapters if chapter.kept)
        yield f"  {script.title[:44]:<44}  {words:>9}  {len(script.chunks):>6}  {_hours(hours)}"
        num_words, num_chunks, num_hours = num_words + words, num_chunks + len(script.chunks), num_hours + hours
    books_said = "1 book" if num_books == 1 else f"{num_books} books"
    yield f"  {books_said}: {num_words} words, {num_chunks} chunks, about {_hours(num_hours)}"


def expected_hours(script: Script, gap_ms: GapMs) -> float:
    """How long the audiobook will be, roughly."""
    seconds = 0.0
    for chunk in script.chunks:
        seconds += SECONDS_PER_LETTER * sum(char.isalnum() for char in chunk.text)
        seconds += gap_ms(chunk.ends) / 1000
    return seconds / 3600


def _hours(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{hours * 60:.0f} minutes"


def _short(text: str) -> str:
    return repr(_shorten(" ".join(text.split())))


def _shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
