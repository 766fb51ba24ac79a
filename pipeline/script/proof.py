"""The proof of a script: what the blocks say is spoken by one chunk, or is a pause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from pipeline.errors import UnaccountedError
from pipeline.manuscript.book import Block, Book, Chapter
from pipeline.manuscript.proof import count_left_out, visible, without_added
from pipeline.manuscript.prose import keep_letters
from pipeline.script.rewriting import rewrite
from pipeline.script.script import Script, ScriptChapter, TextSpan

_EXCERPT = 40


@dataclass(frozen=True, slots=True)
class Account:
    """Where the visible characters of a manuscript went: their numbers. White space is not counted."""

    as_written: int
    rewritten: Counter[str]
    """By rule: those that are said otherwise."""
    paused: int
    """Of blocks that no chunk says, having no letter or digit."""
    left_out: Counter[str]
    """By reason."""

    @property
    def total(self) -> int:
        return self.as_written + self.rewritten.total() + self.paused + self.left_out.total()


def check_script(book: Book, script: Script) -> None:
    """Check that a script says its book. Raises `UnaccountedError` that says what is missing, and where."""
    for chapter, written in zip(book.chapters, script.chapters, strict=True):
        if fault := _find_fault(chapter, written):
            raise UnaccountedError(
                f"{book.title}, chapter {chapter.index} ({chapter.title}): {fault}. That is a fault of render-book, "
                f"which stops before it reads a book wrongly: please report it. --drop {chapter.index} leaves the "
                "chapter out."
            )


def _find_fault(chapter: Chapter, written: ScriptChapter) -> str:
    if not written.kept:
        return ""
    taken: list[list[TextSpan]] = [[] for _ in written.spoken]
    for span in [span for chunk in written.chunks for span in chunk.spans] + [one.span for one in written.unspoken]:
        taken[span.block].append(span)
    for number, (block, spoken) in enumerate(zip(chapter.blocks, written.spoken, strict=True)):
        if rewrite(block.text, written.rewritings[number]) != spoken:
            return f"{_quote(block.text)} isn't what its rewritings make of it"
        done = 0
        for span in sorted(taken[number], key=lambda span: span.start):
            if visible(spoken[done : span.start]) or span.start < done:
                return f"{_quote(spoken[min(done, span.start) :])} is in no chunk, or in two"
            done = span.end
        if visible(spoken[done:]):
            return f"{_quote(spoken[done:])} is in no chunk"
    for chunk in written.chunks:
        said = "".join(written.spoken[span.block][span.start : span.end] for span in chunk.spans)
        if keep_letters(said) != keep_letters(chunk.text):
            return f"{_quote(said)} became {_quote(chunk.text)}"
    return ""


def account(book: Book, script: Script) -> Account:
    """Count where a manuscript's characters went. The script has been checked."""
    as_written, paused = 0, 0
    rewritten: Counter[str] = Counter()
    left_out = count_left_out(book.left_out)
    for chapter, written in zip(book.chapters, script.chapters, strict=True):
        if not written.kept:
            left_out[written.reason] += sum(len(visible(without_added(block))) for block in chapter.blocks)
            continue
        silent = Counter(one.span.block for one in written.unspoken)
        for number, block in enumerate(chapter.blocks):
            before = _count_visible(block)
            if silent[number] and not any(char.isalnum() for char in written.spoken[number]):
                paused += before[-1]
                continue
            as_written += before[-1]
            for one in written.rewritings[number]:
                num_chars = before[one.end] - before[one.start]
                rewritten[one.rule] += num_chars
                as_written -= num_chars
    return Account(as_written, rewritten, paused, left_out)


def account_as_lines(account: Account) -> Iterator[str]:
    """Where every visible character of the manuscript went."""
    yield f"  {account.total:>9}  visible characters in the manuscript, and none unaccounted for:"
    yield f"  {account.as_written:>9}  said as they are written"
    for rule, count in account.rewritten.most_common():
        if count:
            yield f"  {count:>9}  said otherwise: {rule}"
    if account.paused:
        yield f"  {account.paused:>9}  without a letter or digit, so not said"
    for reason, count in account.left_out.most_common():
        if count:
            yield f"  {count:>9}  left out: {reason}"


def _count_visible(block: Block) -> list[int]:
    """How many visible characters that stand in the source come before each place of a block's text."""
    text = list(block.text)
    for start, end in block.added:
        text[start:end] = " " * (end - start)
    return list(accumulate((char != " " for char in text), initial=0))


def _quote(text: str) -> str:
    return repr(text if len(text) <= _EXCERPT else text[:_EXCERPT] + "…")
