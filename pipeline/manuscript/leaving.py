"""What a tree's reader leaves out, in the order of the source."""

from __future__ import annotations

from bisect import bisect_right

from pipeline.manuscript.book import LeftOut, Span
from pipeline.manuscript.prose import clean


class LeftOuts:
    """The list of a file. Places are characters of the whole file's text."""

    def __init__(self, file: str) -> None:
        self.all: list[LeftOut] = []
        self._file = file
        self._starts: list[int] = []
        self._run_reason = ""
        self._run_start = 0
        self._run: list[str] = []

    def add(self, text: str, reason: str, start: int, end: int) -> None:
        self.insert(LeftOut(text, reason, Span(self._file, "/*", start, end)), start)

    def insert(self, left: LeftOut, start: int) -> None:
        index = bisect_right(self._starts, start)
        self._starts.insert(index, start)
        self.all.insert(index, left)

    def begin_run(self, reason: str, position: int) -> None:
        """From here on all text is left out, but for notes that lie in it."""
        self._run_reason, self._run_start, self._run = reason, position, []

    def add_to_run(self, raw: str) -> None:
        self._run.append(raw)

    def end_run(self, position: int) -> None:
        if text := clean(" ".join(self._run)):
            self.add(text, self._run_reason, self._run_start, position)
        self._run = []

    def resume_run(self, position: int) -> None:
        self._run_start = position
