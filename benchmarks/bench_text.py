"""How fast a manuscript becomes a script: books, two megabytes of prose, and texts made to be slow.

    python benchmarks/bench_text.py [MANUSCRIPT ...]

Without manuscripts, those of the corpus beside the project, where it is. Each is read (with its proof) and planned; the
sentences of the longest are split. Seconds are of a processor. Exits with 1 where a bound isn't met.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.errors import RenderBookError
from pipeline.job import BookJob
from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.plan import make_plan
from pipeline.script.sentences import sentence_spans
from pipeline.script.spoken import spoken_form

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "epub"
MAX_READ_SECONDS, MAX_PLAN_SECONDS, MAX_SPLIT_SECONDS, MAX_HOSTILE_SECONDS = 3.0, 10.0, 2.0, 5.0

PROSE = "“Mr. Hale came at 5 p.m. on Monday,” said J. B. Stone. Then he left … and why? Nobody knew 1,200 of them. "
HOSTILE = {"full stops": ".", "abbreviations": "a.", "closing quotes": "”", "dashes": " — ", "digits": "1,"}

slow: list[str] = []


def measure(name: str, do: Callable[[], object], num_chars: int, bound: float) -> None:
    started = time.process_time()
    do()
    seconds = time.process_time() - started
    print(f"{name:<56} {num_chars / 1e6:6.2f} M characters {seconds:8.2f} s (at most {bound:g})")
    if seconds > bound:
        slow.append(name)


def measure_books(manuscripts: Sequence[Path]) -> None:
    make_plan(BookJob(next(iter(manuscripts)), voice="tone"))  # what is loaded once
    longest = ""
    for path in manuscripts:
        book: Book = read_manuscript(path)
        texts = [block.text for chapter in book.chapters for block in chapter.blocks]
        num_chars = sum(map(len, texts))
        longest = max(longest, "\n\n".join(texts), key=len)
        measure(f"read {path.name[:44]}", lambda path=path: read_manuscript(path), num_chars, MAX_READ_SECONDS)  # type: ignore[misc]
        plan = BookJob(path, voice="tone")
        measure(f"plan {path.name[:44]}", lambda plan=plan: make_plan(plan), num_chars, MAX_PLAN_SECONDS)  # type: ignore[misc]
    measure("sentences of the longest", lambda: sentence_spans(longest, "en"), len(longest), MAX_SPLIT_SECONDS)


def main(manuscripts: list[Path]) -> int:
    prose = PROSE * (2_000_000 // len(PROSE))
    measure("sentences of prose", lambda: sentence_spans(prose, "en"), len(prose), 2 * MAX_SPLIT_SECONDS)
    blocks = [prose[i : i + 500] for i in range(0, len(prose), 500)]
    measure("spoken form of prose", lambda: [spoken_form(one, "en") for one in blocks], len(prose), MAX_PLAN_SECONDS)
    for name, mark in HOSTILE.items():
        text = mark * (1_000_000 // len(mark))
        for what, do in (("sentences", sentence_spans), ("spoken form", spoken_form)):
            measure(f"{what} of {name}", lambda do=do, text=text: do(text, "en"), len(text), MAX_HOSTILE_SECONDS)  # type: ignore[misc]
    found = manuscripts or sorted(CORPUS.glob("*/*.epub"), key=lambda path: -path.stat().st_size)
    readable = []
    for path in found:
        try:
            readable.append((sum(len(b.text) for c in read_manuscript(path).chapters for b in c.blocks), path))
        except RenderBookError as error:
            print(error)
    if readable:
        measure_books([path for _, path in sorted(readable, reverse=True)[:6]])
    for name in slow:
        print(f"too slow: {name}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main([Path(name) for name in sys.argv[1:]]))
