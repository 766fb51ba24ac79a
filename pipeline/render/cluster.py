"""Replicas on Ray: one actor each, one call a chunk; the reference is the lease. Ray lives here and in session.py."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from pipeline import __version__
from pipeline.engines.base import FailureKind, Request
from pipeline.errors import VoiceError
from pipeline.render.judge import JudgeRules
from pipeline.render.pools import said
from pipeline.render.replica import Answer, Replica, ReplicaSpec

_MAX_CALLS = 10_000
"""Calls a replica holds at once: a coroutine each, so the bound is none for any number of slots."""

_RECOUNT_S = 5.0
"""How long the number of places on a cluster is believed."""


class RayHost:
    """Replicas as actors, on a Ray started for this run or on a cluster. Nothing is retried here: the loop does."""

    num_tries = 3

    def __init__(self, address: str, num_cpus: float, num_gpus: float, on_message: Callable[[str], None]) -> None:
        """`address` is of a cluster to join; empty for a Ray of this run's own, with so many CPUs and GPUs."""
        import os
        import signal

        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        on_term = signal.getsignal(signal.SIGTERM)
        import ray

        self._ray = ray
        if address:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        else:
            ray.init(
                address="local",
                num_cpus=num_cpus,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="ERROR",
                configure_logging=False,
            )
        signal.signal(signal.SIGTERM, on_term)
        self._specs: dict[int, Any] = {}
        self._counted: tuple[float, list[Any]] = (0.0, [])

    def num_places(self, spec: ReplicaSpec) -> int:
        if spec.num_replicas is not None:
            return spec.num_replicas
        at, nodes = self._counted
        if time.monotonic() - at > _RECOUNT_S:
            nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
            self._counted = time.monotonic(), nodes
        return max(1, sum(_carried(node, spec) for node in nodes))

    def start(self, spec: ReplicaSpec) -> tuple[Any, Future[Any]]:
        actor = self._ray.remote(_ReplicaActor).options(
            num_cpus=spec.num_cpus,
            num_gpus=spec.num_gpus,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=_MAX_CALLS,
        )
        handle = actor.remote(spec)
        return handle, handle.open.remote(__version__).future()

    def call(self, handle: Any, request: Request, judge: JudgeRules) -> Future[Answer]:
        future: Future[Answer] = handle.render.remote(request, judge).future()
        return future

    def stop(self, handle: Any) -> None:
        self._ray.kill(handle)

    def explain(self, handle: Any, error: BaseException) -> tuple[FailureKind, str]:
        errors = self._ray.exceptions
        if isinstance(error, errors.RayTaskError):  # raised by our code, in a worker that lives on
            return "exception", said(error.cause)
        if isinstance(error, errors.OutOfMemoryError):
            return "out of memory", "its worker took more memory than there is"
        return "crash", f"its worker died ({type(error).__name__})"

    def close(self) -> None:
        self._ray.shutdown()


def _carried(resources: dict[str, float], spec: ReplicaSpec) -> int:
    """How many replicas a machine has room for, as Ray counts."""
    wanted = {"CPU": spec.num_cpus, "GPU": spec.num_gpus}
    return min((int(resources.get(name, 0) / amount + 1e-6) for name, amount in wanted.items() if amount), default=1)


class _ReplicaActor:
    """A replica in a process of its own. A call is a coroutine that waits for its take: any number may be in flight."""

    def __init__(self, spec: ReplicaSpec) -> None:
        self._replica = Replica(spec)

    async def open(self, version: str) -> int:
        """The number of slots, once the model is loaded."""
        if version != __version__:
            raise VoiceError(f"a worker has render-book {__version__}, and not {version} as here: install the same")
        return await asyncio.wrap_future(self._replica.opened)

    async def render(self, request: Request, judge: JudgeRules) -> Answer:
        return await asyncio.wrap_future(self._replica.submit(request, judge))
