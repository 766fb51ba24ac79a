"""The one loop: ask for what is left of every book, record what comes back, finish the chapters that are whole."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.engines.base import Failed, Request
from pipeline.render.backlog import Backlog, Composite
from pipeline.render.judge import JudgeRules
from pipeline.render.pools import Pools
from pipeline.render.replica import ReplicaSpec
from pipeline.render.store import Store
from pipeline.render.takes import Take


class Clock:
    """Whether the run should take no more chunks: a signal came, or its time is nearly up.

    `deadline` is in seconds of `now`. The run stops taking chunks early enough for those in flight to end before it.
    """

    def __init__(self, deadline: float | None = None, now: Callable[[], float] = time.time) -> None:
        self._deadline = deadline
        self._now = now
        self._recent: deque[float] = deque(maxlen=200)
        self.is_interrupted = False
        self._is_out_of_time = False

    def stop(self) -> None:
        self.is_interrupted = True

    def note_seconds(self, seconds: float) -> None:
        """How long a chunk took from being asked for to coming back."""
        self._recent.append(seconds)

    def is_stopping(self) -> bool:
        if self._deadline is not None and self._now() + max(self._recent, default=0.0) >= self._deadline:
            self._is_out_of_time = True
        return self.is_interrupted or self._is_out_of_time


class Book(Protocol):
    """A book while it is rendered."""

    backlog: Backlog
    store: Store
    spec: ReplicaSpec
    judge: JudgeRules

    def compose(self, composite: Composite) -> Take: ...

    def on_outcome(self, outcome: Take | Failed) -> None: ...

    def on_chapter(self, index: int) -> None: ...


class Shelf(Protocol):
    """The books of a job: those that are open now, in the order in which they are served."""

    def books(self) -> Sequence[Book]: ...

    def tend(self, *, is_stopping: bool) -> bool:
        """Open books that are due, finish those that are rendered; whether any is left to tend."""
        ...

    def fail(self, book: Book, error: Exception) -> None:
        """Give up one book; the others go on."""
        ...


@dataclass(frozen=True, slots=True)
class _Asked:
    book: Book
    request: Request
    at: float


class Loop:
    """Renders every book of a shelf. Safe to kill and run again: an accepted take is never rendered twice."""

    def __init__(self, shelf: Shelf, pools: Pools, clock: Clock) -> None:
        self._shelf = shelf
        self._pools = pools
        self._clock = clock
        self._in_flight: dict[str, _Asked] = {}
        self._held: list[tuple[Book, Request, bool]] = []

    def run(self) -> None:
        outcomes: list[Take | Failed] = []
        while self._shelf.tend(is_stopping=self._clock.is_stopping()) or self._in_flight:
            self._fill(may_grow=False)  # first, so that replicas have work while the disk has theirs
            self._note(outcomes)
            self._fill()
            outcomes = self._pools.wait(timeout_s=0.5)

    def _fill(self, *, may_grow: bool = True) -> None:
        if self._clock.is_stopping():
            return
        held, self._held = self._held, []
        for book in self._shelf.books():
            try:
                for owner, request, alone in held:
                    if owner is book:
                        self._ask(book, request, alone=alone, may_grow=may_grow)
                if book.backlog.num_suspects:
                    for _ in range(self._pools.room_for(book.spec, alone=True, may_grow=may_grow)):
                        self._ask(book, book.backlog.next_suspect(), alone=True, may_grow=may_grow)
                if book.backlog.num_queued:
                    for _ in range(self._pools.room_for(book.spec, may_grow=may_grow)):
                        self._ask(book, book.backlog.next(), alone=False, may_grow=may_grow)
            except Exception as error:  # noqa: BLE001 - as below
                self._shelf.fail(book, error)

    def _ask(self, book: Book, request: Request | None, *, alone: bool, may_grow: bool) -> None:
        """Two books may hold the same sentence by the same voice: the second waits until the first has its take."""
        if request is None:
            return
        is_asked = request.key in self._in_flight
        if is_asked or not self._pools.room_for(book.spec, alone=alone, may_grow=may_grow):
            self._held.append((book, request, alone))
            return
        self._in_flight[request.key] = _Asked(book, request, time.monotonic())
        self._pools.submit(request, book.spec, book.judge, alone=alone)

    def _note(self, outcomes: Sequence[Take | Failed]) -> None:
        by_book: dict[int, list[Take | Failed]] = {}
        for outcome in outcomes:
            asked = self._in_flight.pop(outcome.key)
            if isinstance(outcome, Take):
                self._clock.note_seconds(time.monotonic() - asked.at)
            by_book.setdefault(id(asked.book), []).append(outcome)
        for book in self._shelf.books():
            try:
                self._note_book(book, by_book.get(id(book), []))
            except Exception as error:  # noqa: BLE001 - one book's, whatever it is: the others go on
                self._shelf.fail(book, error)

    def _note_book(self, book: Book, outcomes: Sequence[Take | Failed]) -> None:
        if outcomes:
            in_flight = [(asked.request.key, asked.request.attempt) for asked in self._in_flight.values()
                         if asked.book is book]  # fmt: skip
            book.store.record(outcomes, in_flight)  # bytes first, then the rows that say so
        for outcome in outcomes:
            book.backlog.apply(outcome)
            book.on_outcome(outcome)
        for composite in book.backlog.composites():
            take = book.compose(composite)
            book.store.record([take])
            book.backlog.compose(take)
        for chapter in book.backlog.finished_chapters():
            book.on_chapter(chapter)


@dataclass(slots=True)
class Tally:
    """What this run did for a book, for the report and the progress line."""

    num_rendered: int = 0
    num_refused: int = 0
    num_failed: int = 0
    num_again: int = 0
    """Renderings that were lost with a worker, a machine or an earlier run, and asked for again."""
    audio_seconds: float = 0.0

    def add(self, outcome: Take | Failed, *, is_listed: bool) -> None:
        if isinstance(outcome, Failed):
            self.num_failed += 1
            self.num_again += not is_listed
        elif outcome.is_refused:
            self.num_refused += 1
        else:
            self.num_rendered += 1
            self.audio_seconds += outcome.num_samples / outcome.sample_rate
