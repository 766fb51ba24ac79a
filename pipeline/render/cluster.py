"""Replicas on Ray: one actor each, one call a chunk; the reference is the lease. Ray lives here and in session.py."""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from pipeline import __version__
from pipeline.engines.base import FailureKind, Request, num_sharing
from pipeline.errors import NoEnvironmentError, VoiceError
from pipeline.render.environment import cluster_environment, explain_failure, own_environment
from pipeline.render.judge import JudgeRules
from pipeline.render.pools import said
from pipeline.render.replica import Answer, Replica, ReplicaSpec
from pipeline.render.session import open_session

_MAX_CALLS = 10_000
"""Calls a replica holds at once: a coroutine each, so the bound is none for any number of slots."""

_RECOUNT_S = 5.0
"""How long the number of places on a cluster is believed."""

_CONNECT_S = 3.0


@dataclass(eq=False, slots=True)
class _Remote:
    """An actor, and the machine it runs on, once it runs."""

    actor: Any
    node_id: str = ""


class RayHost:
    """Replicas as actors, on a Ray started for this run or on a cluster. Nothing is retried here: the loop does."""

    num_tries = 3

    def __init__(self, address: str, num_cpus: float, num_gpus: float, on_message: Callable[[str], None]) -> None:
        """`address` is of a cluster to join; empty for a Ray of this run's own, with so many CPUs and GPUs."""
        self._session = ExitStack()
        self._session.enter_context(open_session(address, num_cpus, num_gpus, on_message))
        import ray

        self._ray = ray
        self._counted: tuple[float, list[Any]] = (0.0, [])
        self._say = on_message
        self._is_own = not address
        self._environments: dict[tuple[str, ...], dict[str, Any] | NoEnvironmentError] = {}

    def num_places(self, spec: ReplicaSpec) -> int:
        if spec.num_replicas is not None:
            return spec.num_replicas
        at, nodes = self._counted
        if time.monotonic() - at > _RECOUNT_S:
            nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
            self._counted = time.monotonic(), nodes
        return max(1, sum(_carried(node, spec) for node in nodes))

    def start(self, spec: ReplicaSpec) -> tuple[_Remote, Future[int]]:
        opened: Future[int] = Future()
        environment = self._environment_of(spec)
        if isinstance(environment, NoEnvironmentError):
            opened.set_exception(environment)
            return _Remote(None), opened
        actor = self._ray.remote(_ReplicaActor).options(
            num_cpus=spec.num_cpus,
            num_gpus=spec.num_gpus,
            max_restarts=0,
            max_task_retries=0,
            max_concurrency=_MAX_CALLS,
            runtime_env=environment,
        )
        remote = _Remote(actor.remote(spec))

        def on_open(call: Future[tuple[int, str]]) -> None:
            error = call.exception()
            if isinstance(error, self._ray.exceptions.RuntimeEnvSetupError):
                opened.set_exception(NoEnvironmentError(explain_failure(spec.engine, spec.packages, str(error))))
            elif error is not None:
                opened.set_exception(error)
            else:
                num_slots, remote.node_id = call.result()
                opened.set_result(num_slots)

        remote.actor.open.remote(__version__).future().add_done_callback(on_open)
        return remote, opened

    def call(self, handle: _Remote, request: Request, judge: JudgeRules) -> Future[Answer]:
        answered: Future[Answer] = Future()

        def on_answer(call: Future[bytes]) -> None:
            try:
                answered.set_result(pickle.loads(call.result()))
            except Exception as error:  # noqa: BLE001 - whatever it is, the pools hear of it
                answered.set_exception(error)

        handle.actor.render.remote(pickle.dumps((request, judge))).future().add_done_callback(on_answer)
        return answered

    def stop(self, handle: _Remote) -> None:
        self._ray.kill(handle.actor)

    abandon = stop

    def explain(self, handle: _Remote, error: BaseException) -> tuple[FailureKind, str]:
        errors = self._ray.exceptions
        if isinstance(error, NoEnvironmentError):
            return "exception", str(error)
        if isinstance(error, errors.RayTaskError):  # by our code: once it is open, a replica raises only if it is down
            return ("crash" if handle.node_id else "exception"), said(error.cause)
        # What Ray (2.60) knows of an actor's end is in its message alone. Out of reach, though its machine is there, it
        # is suspected: an innocent clears itself when it runs alone, and a culprit must not be asked for for ever.
        is_unreachable = isinstance(error, errors.ActorUnavailableError)
        if "its node has died" in str(error) or (is_unreachable and handle.node_id and self._is_gone(handle.node_id)):
            return "lost", "its machine was lost"
        if isinstance(error, errors.OutOfMemoryError) or "low on memory" in str(error):
            return "out of memory", "its worker took more memory than the machine has"
        return "crash", "its worker died"

    def close(self) -> None:
        self._session.close()

    def _environment_of(self, spec: ReplicaSpec) -> dict[str, Any] | NoEnvironmentError:
        """What Ray is told of it, or why it can't be built, which isn't tried again in a run."""
        if spec.packages not in self._environments:
            environment: dict[str, Any] | NoEnvironmentError = {}
            try:
                if spec.packages and self._is_own:
                    environment = own_environment(spec.engine, spec.packages, self._say)
                elif spec.packages:
                    self._say(f"The cluster builds the environment of the engine {spec.engine}, if it has none yet.")
                    environment = cluster_environment(spec.packages)
            except NoEnvironmentError as error:
                environment = error
            self._environments[spec.packages] = environment
        return self._environments[spec.packages]

    def _is_gone(self, node_id: str) -> bool:
        """Whether the machine of an actor that can't be reached is gone too; Ray itself takes 15 s to say so."""
        for node in self._ray.nodes():
            if node["NodeID"] == node_id and node["Alive"]:
                try:
                    address = node["NodeManagerAddress"], node["NodeManagerPort"]
                    socket.create_connection(address, timeout=_CONNECT_S).close()
                except OSError:
                    return True
                return False
        return True


def _carried(resources: dict[str, float], spec: ReplicaSpec) -> int:
    """How many replicas a machine has room for, as Ray counts."""
    rooms = [int(resources.get("CPU", 0) / spec.num_cpus + 1e-6)] if spec.num_cpus else []
    rooms += [num_sharing(resources.get("GPU", 0), spec.num_gpus)] if spec.num_gpus else []
    return min(rooms, default=1)


class _ReplicaActor:
    """A replica in a process of its own. A call is a coroutine that waits for its take: any number may be in flight."""

    def __init__(self, spec: ReplicaSpec) -> None:
        if not spec.num_gpus:  # Ray hides no device from a replica that asked for none: all would load onto the first
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
        self._replica = Replica(spec)

    async def open(self, version: str) -> tuple[int, str]:
        """The number of slots, once the model is loaded, and the machine's id."""
        import ray

        if version != __version__:
            raise VoiceError(f"a worker has render-book {__version__}, and not {version} as here: install the same")
        return await asyncio.wrap_future(self._replica.opened), ray.get_runtime_context().get_node_id()

    async def render(self, call: bytes) -> bytes:
        """Bytes both ways: Ray's own pickling in Python takes a tenth of all that a call costs."""
        answer = await asyncio.wrap_future(self._replica.submit(*pickle.loads(call)))
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)
