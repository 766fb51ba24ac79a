"""Replicas: an engine and a judge behind a queue. The local pool is one of them, in a thread."""

from __future__ import annotations

import gc
import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
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
        self._is_closing = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="replica", daemon=True)
        self._thread.start()

    def submit(self, request: Request) -> Future[Take | Failed]:
        future: Future[Take | Failed] = Future()
        if self._error is not None:
            future.set_exception(self._error)
        else:
            self._inbox.put((request, future))
        return future

    def close(self) -> None:
        """Let what is in its slots end, and stop; what waits is not begun."""
        self._is_closing = True
        self._inbox.put(None)
        self._thread.join()

    def _run(self) -> None:
        rows: dict[str, tuple[Request, Future[Take | Failed]]] = {}
        try:
            self._serve(rows)
        except BaseException as error:  # noqa: BLE001 - whoever waits must hear of it, not wait for ever
            self._error = error
            for _, future in rows.values():
                future.set_exception(error)
            while not self._inbox.empty():
                if item := self._inbox.get():
                    item[1].set_exception(error)

    def _serve(self, rows: dict[str, tuple[Request, Future[Take | Failed]]]) -> None:
        while rows or not self._is_closing:
            while not self._is_closing and (not rows or self._engine.free_slots):
                try:
                    item = self._inbox.get(block=not rows)
                except queue.Empty:
                    break
                if item is not None and not self._is_closing:
                    self._admit(item, rows)
            for outcome in self._step([request for request, _ in rows.values()]):
                request, future = rows.pop(outcome.key)
                future.set_result(self._judged(outcome, request))

    def _admit(
        self, item: tuple[Request, Future[Take | Failed]], rows: dict[str, tuple[Request, Future[Take | Failed]]]
    ) -> None:
        request, future = item
        try:
            self._engine.admit(request)
        except Exception as error:  # noqa: BLE001 - whatever a model raises is its row's outcome, and is listed
            future.set_result(_failed(request, error))
        else:
            rows[request.key] = item

    def _step(self, requests: Sequence[Request]) -> Sequence[RawTake | Failed]:
        try:
            return self._engine.step() if requests else []
        except Exception as error:  # noqa: BLE001 - as above, of all rows; the engine may still hold some, so:
            failed = [_failed(request, error) for request in requests]
        if len(failed) > 1:  # one of them is to blame, or none: each gets its turn alone
            failed = [replace(one, kind="crash") if one.kind == "exception" else one for one in failed]
        del self._engine  # before another is opened: two models may be more than there is room for
        gc.collect()
        self._engine = self._spec.open_engine()
        return failed

    def _judged(self, outcome: RawTake | Failed, request: Request) -> Take | Failed:
        if isinstance(outcome, Failed):
            return outcome
        try:
            return judge_take(outcome, request.text, self._spec.sample_rate, self._spec.judge)
        except Exception as error:  # noqa: BLE001 - a take that can't be judged must be listed, not lost
            return _failed(request, error)


def _failed(request: Request, error: Exception) -> Failed:
    said = str(error).lower()  # torch's two allocators put it differently
    out_of_memory = isinstance(error, MemoryError) or "out of memory" in said or "can't allocate memory" in said
    kind: FailureKind = "out of memory" if out_of_memory else "exception"
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return Failed(request.key, request.attempt, kind, message)


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
        return [future.result() for future in done]

    def close(self) -> None:
        self._replica.close()
