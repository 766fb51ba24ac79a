"""The one loop: ask for what is left, record what comes back, finish the chapters that are whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pipeline.engines.base import Failed
from pipeline.render.backlog import Backlog, Composite
from pipeline.render.pools import Pools
from pipeline.render.store import Store
from pipeline.render.takes import Take


class Clock:
    """Whether the run was asked to stop."""

    def __init__(self) -> None:
        self._is_stopping = False

    def stop(self) -> None:
        self._is_stopping = True

    def is_stopping(self) -> bool:
        return self._is_stopping


@dataclass(slots=True)
class Tally:
    """What this run did, for the report and the progress line."""

    num_rendered: int = 0
    num_refused: int = 0
    num_failed: int = 0
    audio_seconds: float = 0.0

    def add(self, outcome: Take | Failed) -> None:
        if isinstance(outcome, Failed):
            self.num_failed += 1
        elif outcome.is_refused:
            self.num_refused += 1
        else:
            self.num_rendered += 1
            self.audio_seconds += outcome.num_samples / outcome.sample_rate


def render_backlog(
    backlog: Backlog,
    pools: Pools,
    store: Store,
    clock: Clock,
    *,
    compose: Callable[[Composite], Take],
    on_chapter: Callable[[int], None],
    on_outcome: Callable[[Take | Failed], None],
) -> Tally:
    """Render what is left of a book. Safe to kill and run again: an accepted take is never rendered twice."""
    tally = Tally()
    for chapter in backlog.finished_chapters():
        on_chapter(chapter)
    while backlog.is_open():
        while not clock.is_stopping() and pools.num_free() > 0 and (asked := backlog.next()):
            pools.submit(asked[0], alone=asked[1])
        waited = pools.wait(timeout_s=1.0) if backlog.num_in_flight or backlog.num_waiting else []
        outcomes = [backlog.stamp(outcome) for outcome in waited]
        store.record(outcomes)  # bytes first, then the rows that say so
        for outcome in outcomes:
            backlog.apply(outcome)
            tally.add(outcome)
            on_outcome(outcome)
        for composite in backlog.composites():
            take = compose(composite)
            store.record([take])
            backlog.compose(take)
        for chapter in backlog.finished_chapters():
            on_chapter(chapter)
        if clock.is_stopping() and not backlog.num_in_flight:
            break
    return tally
