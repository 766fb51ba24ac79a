"""The Ray pool: one actor a replica, one call a chunk; the reference is the lease. Ray lives here alone."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

from pipeline.engines.base import Failed, FailureKind, Request
from pipeline.errors import VoiceError
from pipeline.render.pools import Replica, ReplicaSpec
from pipeline.render.takes import Take

_AHEAD = 2
"""Calls in flight a replica beyond its slots, so that it never waits for the driver."""

_MAX_CALLS = 10_000
"""Calls a replica holds at once: a coroutine each, so the bound is none for any number of slots."""

_MAX_FAILED_STARTS = 3


class RayPool:
    """`num_workers` replicas on a Ray started for this run. A replica that dies is replaced.

    Raises `VoiceError` where replicas don't start, again and again: that accuses no chunk.
    """

    def __init__(self, spec: ReplicaSpec, num_workers: int) -> None:
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        on_term = signal.getsignal(signal.SIGTERM)
        import ray

        self._ray = ray
        ray.init(
            address="local",
            num_cpus=num_workers,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=False,
        )
        signal.signal(signal.SIGTERM, on_term)  # Ray puts its own in its place, which drops what is in flight
        self._actor_class = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, max_concurrency=_MAX_CALLS)(
            _ReplicaActor
        )
        self._spec = ray.put(spec)
        self._num_slots = 1
        self._num_failed_starts = 0
        self._replicas: list[Any] = []
        self._starting = {self._start() for _ in range(num_workers)}
        self._calls: dict[Any, tuple[Request, Any]] = {}
        try:
            while not self._replicas:
                self._welcome(timeout_s=1.0)
        except BaseException:
            self.close()
            raise

    def num_free(self) -> int:
        return len(self._replicas) * (self._num_slots + _AHEAD) - len(self._calls)

    def submit(self, request: Request, *, alone: bool = False) -> None:
        busy = [replica for _, replica in self._calls.values()]
        replica = min(self._replicas, key=busy.count)
        self._calls[replica.render.remote(request)] = (request, replica)

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        self._welcome(timeout_s=0 if self._calls else timeout_s)
        if not self._calls:
            return []
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=timeout_s)
        more, _ = self._ray.wait(list(self._calls), num_returns=len(self._calls), timeout=0)
        return [self._outcome(call) for call in dict.fromkeys([*done, *more])]

    def close(self) -> None:
        self._ray.shutdown()

    def _start(self) -> tuple[Any, Any]:
        """A new replica, and the call that comes back once its model is loaded."""
        replica = self._actor_class.remote(self._spec)
        return replica, replica.num_slots.remote()

    def _welcome(self, timeout_s: float) -> None:
        """Use the replicas that have started since; start those again that couldn't."""
        if not self._starting:
            return
        ready, _ = self._ray.wait([call for _, call in self._starting], num_returns=1, timeout=timeout_s)
        for replica, call in [pair for pair in self._starting if pair[1] in ready]:
            self._starting.discard((replica, call))
            try:
                self._num_slots = self._ray.get(call)
                self._replicas.append(replica)
                self._num_failed_starts = 0
            except self._ray.exceptions.RayError as error:
                self._num_failed_starts += 1
                if self._num_failed_starts >= _MAX_FAILED_STARTS:
                    reason = str(getattr(error, "cause", None) or error).strip().splitlines()[-1]
                    raise VoiceError(f"No worker can start with this voice: {reason}") from None
                self._starting.add(self._start())

    def _outcome(self, call: Any) -> Take | Failed:
        request, replica = self._calls.pop(call)
        errors = self._ray.exceptions
        try:
            outcome: Take | Failed = self._ray.get(call)
        except errors.RayError as error:
            if replica in self._replicas:  # the first of its calls to come back
                self._replicas.remove(replica)
                self._starting.add(self._start())
            kind: FailureKind = "out of memory" if isinstance(error, errors.OutOfMemoryError) else "crash"
            return Failed(request.key, request.attempt, kind, f"its worker died ({type(error).__name__})")
        return outcome


class _ReplicaActor:
    """A replica in a process of its own. A call is a coroutine that waits for its take: any number may be in flight."""

    def __init__(self, spec: ReplicaSpec) -> None:
        self._replica = Replica(spec)

    async def num_slots(self) -> int:
        return int(self._replica.num_slots)

    async def render(self, request: Request) -> Take | Failed:
        return await asyncio.wrap_future(self._replica.submit(request))
