"""A replica: one engine, stepped by one thread, and a judge beside it. It runs in any process."""

from __future__ import annotations

import contextlib
import gc
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from pipeline.engines.base import Engine, Failed, FailureKind, RawTake, Request
from pipeline.render.judge import JudgeRules, judge_take
from pipeline.render.takes import Take


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """What a replica needs to start: picklable, so that it can start on another machine.

    Replicas of one `model` do the same work; `engine` is its engine's name, of which there may be `num_replicas` (None:
    as many as the cluster carries). num_cpus, num_gpus: what each takes of a machine, in Ray's units. packages: pip's
    requirements, which stand in place of this environment's own in the replica's.
    """

    model: str
    engine: str
    open_engine: Callable[[], Engine]
    sample_rate: int
    num_replicas: int | None = 1
    num_cpus: float = 1
    num_gpus: float = 0
    packages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Occupancy:
    """Seconds times slots, since the first request: how many had a request in them, and how many there were."""

    filled: float = 0.0
    offered: float = 0.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a request, and how full its replica has been so far."""

    outcome: Take | Failed
    occupancy: Occupancy


@dataclass(frozen=True, slots=True)
class _Row:
    request: Request
    judge: JudgeRules
    future: Future[Answer]


class Replica:
    """A request goes in, a future of its answer comes out. Every request is answered, whatever the model does.

    `opened` is a future of the number of slots; it fails as opening the model fails.
    """

    def __init__(self, spec: ReplicaSpec) -> None:
        self.opened: Future[int] = Future()
        self._spec = spec
        self._inbox: queue.SimpleQueue[_Row | None] = queue.SimpleQueue()
        self._lock = threading.Lock()  # between a request's coming in and the thread's going down
        self._is_closing = False
        self._error: BaseException | None = None
        self._must_reopen = False
        self._judges = ThreadPoolExecutor(1, thread_name_prefix="judge")  # the engine steps on meanwhile
        self._rows: dict[tuple[str, int], _Row] = {}
        self._occupancy = Occupancy()
        self._measured_at = 0.0
        self._thread = threading.Thread(target=self._run, name="replica", daemon=True)
        self._thread.start()

    def submit(self, request: Request, judge: JudgeRules) -> Future[Answer]:
        future: Future[Answer] = Future()
        with self._lock:
            if self._error is None:
                self._inbox.put(_Row(request, judge, future))
                return future
        future.set_exception(self._error)
        return future

    def close(self) -> None:
        """Let what is in its slots end, and stop; what waits is not begun."""
        self._is_closing = True
        self._inbox.put(None)
        self._thread.join()
        self._judges.shutdown()

    def _run(self) -> None:
        try:
            self._engine = self._spec.open_engine()
            self._num_slots = self._engine.free_slots
            self.opened.set_result(self._num_slots)
            self._serve()
        except BaseException as error:  # noqa: BLE001 - whoever waits must hear of it, not wait for ever
            with self._lock:
                self._error = error
            if not self.opened.done():
                self.opened.set_exception(error)
            waiting = [*self._rows.values()]
            with contextlib.suppress(queue.Empty):
                while True:
                    if row := self._inbox.get(block=False):
                        waiting.append(row)
            for row in waiting:
                row.future.set_exception(error)

    def _serve(self) -> None:
        while self._rows or not self._is_closing:
            while not self._is_closing and (not self._rows or self._engine.free_slots):
                try:
                    row = self._inbox.get(block=not self._rows)
                except queue.Empty:
                    break
                if row is not None and not self._is_closing:
                    self._admit(row)
            for outcome in self._step():
                self._measure()
                row = self._rows.pop((outcome.key, outcome.attempt))
                self._judges.submit(self._answer, outcome, row)
            if self._must_reopen:  # after its rows are answered, since this may fail too
                self._engine = self._spec.open_engine()
                self._must_reopen = False
        del self._engine  # at once: its place may be another model's

    def _admit(self, row: _Row) -> None:
        self._measure()
        try:
            self._engine.admit(row.request)
        except Exception as error:  # noqa: BLE001 - whatever a model raises is its row's outcome, and is listed
            row.future.set_result(Answer(_failed(row.request, error), self._occupancy))
        else:
            self._rows[row.request.key, row.request.attempt] = row

    def _step(self) -> Sequence[RawTake | Failed]:
        requests = [row.request for row in self._rows.values()]
        try:
            return self._engine.step() if requests else []
        except Exception as error:  # noqa: BLE001 - as above, of all rows; the engine may still hold some, so:
            failed = [_failed(request, error) for request in requests]
        if len(failed) > 1:  # one of them is to blame, or none: each gets its turn alone
            failed = [replace(one, kind="crash") if one.kind == "exception" else one for one in failed]
        del self._engine  # before another is opened: two models may be more than there is room for
        gc.collect()
        self._must_reopen = True
        return failed

    def _measure(self) -> None:
        """Count the time since the last change of what is in the slots."""
        now = time.monotonic()
        seconds = now - self._measured_at if self._measured_at else 0.0
        self._measured_at = now
        before = self._occupancy
        self._occupancy = Occupancy(
            # Rows whose slot is another's already may still be in the codec.
            before.filled + seconds * min(len(self._rows), self._num_slots),
            before.offered + seconds * self._num_slots,
        )

    def _answer(self, outcome: RawTake | Failed, row: _Row) -> None:
        judged: Take | Failed
        try:
            if isinstance(outcome, Failed):
                judged = outcome
            else:
                judged = judge_take(outcome, row.request.text, self._spec.sample_rate, row.judge)
        except Exception as error:  # noqa: BLE001 - a take that can't be judged must be listed, not lost
            judged = _failed(row.request, error)
        row.future.set_result(Answer(judged, self._occupancy))


def _failed(request: Request, error: Exception) -> Failed:
    said = str(error).lower()  # torch's two allocators put it differently
    out_of_memory = isinstance(error, MemoryError) or "out of memory" in said or "can't allocate memory" in said
    kind: FailureKind = "out of memory" if out_of_memory else "exception"
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return Failed(request.key, request.attempt, kind, message)
