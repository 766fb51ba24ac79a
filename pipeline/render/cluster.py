"""The Ray pool: one actor a replica, one call a chunk; the reference is the lease. Ray lives here alone."""

from __future__ import annotations

import os
from typing import Any

from pipeline.engines.base import Failed, Request
from pipeline.errors import RenderBookError
from pipeline.render.pools import Replica, ReplicaSpec
from pipeline.render.takes import Take

_AHEAD = 2
"""Calls in flight a replica beyond its slots, so that it never waits for the driver."""


class RayPool:
    """`num_workers` replicas on a Ray started for this run. A replica that dies is replaced."""

    def __init__(self, spec: ReplicaSpec, num_workers: int) -> None:
        # Set before the import: Ray reads them then.
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray

        self._ray = ray
        ray.init(
            num_cpus=num_workers,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            configure_logging=False,
        )
        self._actor_class = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0, max_concurrency=1 + _AHEAD)(
            _ReplicaActor
        )
        self._spec = ray.put(spec)
        self._replicas = [self._start() for _ in range(num_workers)]
        try:
            self._num_slots: int = ray.get(self._replicas[0].num_slots.remote())
        except ray.exceptions.RayError as error:
            self.close()
            raise RenderBookError(f"A worker couldn't start: {error}") from None
        self._calls: dict[Any, tuple[Request, Any, bool]] = {}

    def num_free(self) -> int:
        return len(self._replicas) * (self._num_slots + _AHEAD) - len(self._calls)

    def submit(self, request: Request, *, alone: bool = False) -> None:
        busy = [replica for _, replica, _ in self._calls.values()]
        replica = min(self._replicas, key=busy.count)
        self._calls[replica.render.remote(request)] = (request, replica, alone)

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        if not self._calls:
            return []
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=timeout_s)
        more, _ = self._ray.wait(list(self._calls), num_returns=len(self._calls), timeout=0)
        outcomes = [self._outcome(call) for call in dict.fromkeys([*done, *more])]
        return sorted(outcomes, key=lambda outcome: outcome.key)

    def close(self) -> None:
        self._ray.shutdown()

    def _start(self) -> Any:
        return self._actor_class.remote(self._spec)

    def _outcome(self, call: Any) -> Take | Failed:
        request, replica, alone = self._calls.pop(call)
        try:
            outcome: Take | Failed = self._ray.get(call)
        except self._ray.exceptions.RayActorError:
            if replica in self._replicas:  # the first of its calls to come back
                self._replicas[self._replicas.index(replica)] = self._start()
            return Failed(request.key, request.attempt, "crash", "its worker died", alone)
        return outcome


class _ReplicaActor:
    """A replica in a process of its own. A call holds a thread only until its take is ready."""

    def __init__(self, spec: ReplicaSpec) -> None:
        self._replica = Replica(spec)

    def num_slots(self) -> int:
        return int(self._replica.num_slots)

    def render(self, request: Request) -> Take | Failed:
        return self._replica.submit(request).result()
