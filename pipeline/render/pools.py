"""Replicas: an engine and a judge behind a queue. The local pool is one of them, in a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Protocol

from pipeline.engines.base import Engine, Failed, FailureKind, RawTake, Request
from pipeline.render.judge import JudgeRules, judge_take
from pipeline.render.takes import Take


class Pools(Protocol):
    """Where requests go and outcomes come from."""

    def num_free(self) -> int:
        """How many more requests are worth submitting now."""
        ...

    def submit(self, request: Request, *, alone: bool = False) -> None: ...

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        """What has come back; empty after `timeout_s` seconds without anything."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """What a replica needs to start: picklable, so that it can start on another machine."""

    open_engine: Callable[[], Engine]
    sample_rate: int
    judge: JudgeRules


class Replica:
    """One engine, stepped by one thread. A request goes in, a future of its outcome comes out."""

    def __init__(self, spec: ReplicaSpec) -> None:
        self._spec = spec
        self._engine = spec.open_engine()
        self.num_slots = self._engine.free_slots
        self._inbox: queue.SimpleQueue[tuple[Request, Future[Take | Failed]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="replica", daemon=True)
        self._thread.start()

    def submit(self, request: Request) -> Future[Take | Failed]:
        future: Future[Take | Failed] = Future()
        self._inbox.put((request, future))
        return future

    def close(self) -> None:
        """Let what is in its slots end, and stop."""
        self._inbox.put(None)
        self._thread.join()

    def _run(self) -> None:
        rows: dict[str, tuple[Request, Future[Take | Failed]]] = {}
        closing = False
        while not (closing and not rows):
            while not closing and (not rows or self._engine.free_slots):
                try:
                    item = self._inbox.get(block=not rows)
                except queue.Empty:
                    break
                if item is None:
                    closing = True
                else:
                    rows[item[0].key] = item
                    self._engine.admit(item[0])
            for outcome in self._step([request for request, _ in rows.values()]):
                request, future = rows.pop(outcome.key)
                future.set_result(self._judged(outcome, request))

    def _step(self, requests: Sequence[Request]) -> Sequence[RawTake | Failed]:
        try:
            return self._engine.step() if requests else []
        except Exception as error:  # noqa: BLE001 - whatever a model raises is its rows' outcome, and is listed
            alone = len(requests) == 1
            return [_failed(request, error, alone) for request in requests]

    def _judged(self, outcome: RawTake | Failed, request: Request) -> Take | Failed:
        if isinstance(outcome, Failed):
            return outcome
        try:
            return judge_take(outcome, request.text, self._spec.sample_rate, self._spec.judge)
        except Exception as error:  # noqa: BLE001 - a take that can't be judged must be listed, not lost
            return _failed(request, error, alone=True)


def _failed(request: Request, error: Exception, alone: bool) -> Failed:
    out_of_memory = isinstance(error, MemoryError) or "out of memory" in str(error).lower()
    kind: FailureKind = "out of memory" if out_of_memory else "exception"
    return Failed(request.key, request.attempt, kind, f"{type(error).__name__}: {error}", alone)


class NoPool:
    """For a book of which nothing is left to render: no model is loaded."""

    def num_free(self) -> int:
        return 0

    def submit(self, request: Request, *, alone: bool = False) -> None:
        raise RuntimeError(f"{request.key} was submitted to no pool")

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        return []

    def close(self) -> None:
        pass


class LocalPool:
    """One replica in this process: no Ray, and the same meaning."""

    def __init__(self, spec: ReplicaSpec) -> None:
        self._replica = Replica(spec)
        self._futures: set[Future[Take | Failed]] = set()

    def num_free(self) -> int:
        # One more than the slots, so that the replica never waits for the driver's fsync.
        return self._replica.num_slots + 1 - len(self._futures)

    def submit(self, request: Request, *, alone: bool = False) -> None:
        self._futures.add(self._replica.submit(request))

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        done, self._futures = wait(self._futures, timeout_s, FIRST_COMPLETED)
        # In the order of asking, so that the ledger reads the same twice.
        return sorted((future.result() for future in done), key=lambda outcome: outcome.key)

    def close(self) -> None:
        self._replica.close()
