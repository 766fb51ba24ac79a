"""What a run shows while it goes on, and the signals that stop it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pipeline.errors import InterruptedByUser

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.job import Job
    from pipeline.line import Progress
    from pipeline.render.loop import Clock


def say(message: str) -> None:
    """A message for the person at the terminal, on stderr."""
    with contextlib.suppress(OSError):  # the terminal is gone, or nobody reads: that doesn't end a night's render
        print(message, file=sys.stderr, flush=True)


class Bar:
    """Progress on stderr: a bar over all books that were begun on a terminal, else a line whenever a chapter begins."""

    def __init__(self, job: Job) -> None:
        self._names_books = len(job.books) > 1
        self._bar: Any = None
        self._begun: set[tuple[Path, str]] = set()
        self._books: dict[Path, Progress] = {}
        self._started = time.monotonic()

    def update(self, progress: Progress) -> None:
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(total=0, unit="chunk", disable=None, dynamic_ncols=True)
        self._books[progress.folder] = progress
        num_done = sum(book.num_done for book in self._books.values())
        num_chunks = sum(book.num_chunks for book in self._books.values())
        audio_seconds = sum(book.audio_seconds for book in self._books.values())
        seconds = time.monotonic() - self._started
        rate = f"{audio_seconds / seconds:.1f}x" if seconds > 1 else ""
        where = f"{progress.book}: {progress.chapter}" if self._names_books else progress.chapter
        if self._bar.disable:
            if (progress.folder, progress.chapter) not in self._begun:
                chapter = where if self._names_books else f"chapter {where}"
                say(f"[{num_done}/{num_chunks}] {chapter} {rate}".rstrip())
            self._begun.add((progress.folder, progress.chapter))
            return
        self._bar.total = num_chunks
        self._bar.set_description_str(where[:40], refresh=False)
        self._bar.set_postfix_str(f"{audio_seconds / 3600:.2f} h audio, {rate}", refresh=False)
        self._bar.update(num_done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


@contextmanager
def running(job: Job) -> Iterator[tuple[Clock, Bar]]:
    """A run that SIGINT, SIGTERM and its time stop after what is in flight; a second signal ends it at once."""
    from pipeline.render.loop import Clock

    clock, bar = Clock(job.deadline(datetime.now())), Bar(job)

    def on_signal(number: int, frame: object) -> None:
        if clock.is_interrupted:
            os._exit(InterruptedByUser.exit_code)  # at once: what is on disk is whole, whatever is cut off
        clock.stop()
        say("Stopping: what is being rendered is finished and kept. Again to stop at once.")

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield clock, bar
    finally:
        bar.close()
        for number, handler in before.items():
            signal.signal(number, handler)
