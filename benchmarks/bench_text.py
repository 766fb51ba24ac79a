"""How fast a manuscript becomes a script: two megabytes of prose, and texts made to be slow.

    python benchmarks/bench_text.py [MANUSCRIPT ...]

All of it should be linear: a quadratic step takes minutes here. With manuscripts, each is read and planned.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from pipeline.errors import RenderBookError
from pipeline.job import Job
from pipeline.plan import make_plan
from pipeline.script.sentences import sentence_spans
from pipeline.script.spoken import spoken_form

PROSE = "“Mr. Hale came at 5 p.m. on Monday,” said J. B. Stone. Then he left … and why? Nobody knew 1,200 of them. "
HOSTILE = {"full stops": ".", "abbreviations": "a.", "closing quotes": "”", "dashes": " — ", "digits": "1,"}


def measure(name: str, do: Callable[[], object], num_chars: int) -> None:
    started = time.perf_counter()
    do()
    seconds = time.perf_counter() - started
    print(f"{name:<44} {num_chars / 1e6:6.2f} M characters {seconds:8.2f} s")


def main(manuscripts: list[Path]) -> None:
    prose = PROSE * (2_000_000 // len(PROSE))
    measure("sentences of prose", lambda: sentence_spans(prose, "en"), len(prose))
    measure("spoken form of prose", lambda: spoken_form(prose, "en"), len(prose))
    for name, mark in HOSTILE.items():
        text = mark * (200_000 // len(mark))
        measure(f"sentences of {name}", lambda text=text: sentence_spans(text, "en"), len(text))  # type: ignore[misc]
        measure(f"spoken form of {name}", lambda text=text: spoken_form(text, "en"), len(text))  # type: ignore[misc]
    for path in manuscripts:
        started = time.perf_counter()
        try:
            script = make_plan(Job(path, voice="tone")).script
        except RenderBookError as error:
            print(error)
            continue
        seconds = time.perf_counter() - started
        num_chars = sum(len(chunk.text) for chunk in script.chunks)
        name = f"{path.name[:30]}, {len(script.chunks)} chunks"
        print(f"{name:<44} {num_chars / 1e6:6.2f} M characters {seconds:8.2f} s")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]])
