"""All replicas of a job: which has room, which is set aside for a suspect, which died. Where they run, a host knows."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pipeline.engines.base import Failed, FailureKind, Request
from pipeline.errors import NoEnvironmentError, VoiceError
from pipeline.render.judge import JudgeRules
from pipeline.render.replica import Answer, Occupancy, Replica, ReplicaSpec
from pipeline.render.takes import Take

_RETRY_START_S = 60.0
"""Before a place where replicas didn't start is tried again, while others render."""
_RETRY_LOST_S = 1.0
"""The same where a machine was lost: Ray goes on giving places on it for some seconds."""

STUCK_S = 600.0
"""How long a replica may have requests without answering any before it is given up: no chunk takes so long."""

_NOTICE_S = 10.0
"""How long nothing has a place before a message says so."""


class Host(Protocol):
    """Where replicas run: this process, or Ray. A replica is known by a handle of the host's own."""

    num_tries: int
    """Starts that may fail one after another before a model is given up."""

    def num_places(self, spec: ReplicaSpec) -> int:
        """How many replicas of the spec's engine there may be at once."""
        ...

    def start(self, spec: ReplicaSpec) -> tuple[Any, Future[int]]:
        """A new replica, and a future of its number of slots."""
        ...

    def call(self, handle: Any, request: Request, judge: JudgeRules) -> Future[Answer]: ...

    def stop(self, handle: Any) -> None:
        """End a replica that has nothing to do."""
        ...

    def abandon(self, handle: Any) -> None:
        """End a replica that doesn't answer, or at least think of it no more."""
        ...

    def explain(self, handle: Any, error: BaseException) -> tuple[FailureKind, str]:
        """What an exception that a future holds says of the replica: `exception` leaves it alive."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class _Call:
    request: Request
    judge: JudgeRules
    alone: bool


@dataclass(eq=False, slots=True)
class _Member:
    """A replica as its pool knows it. `num_slots` is 0 until it has opened its model."""

    spec: ReplicaSpec
    handle: Any
    since: float
    num_slots: int = 0
    calls: dict[str, _Call] = field(default_factory=dict)
    heard_at: float = 0.0
    """When it last answered, or was given something to do."""
    is_set_aside: bool = False
    lone: _Call | None = None
    """Waits until the replica, which was set aside for it, has nothing else to do."""
    occupancy: Occupancy = field(default_factory=Occupancy)
    death: tuple[FailureKind, str] | None = None

    def num_free(self) -> int:
        if not self.num_slots or self.is_set_aside:
            return 0
        ahead = 2 + self.num_slots // 4  # so that it never waits for the driver, also when rows end together
        return self.num_slots + ahead - len(self.calls)

    def is_idle(self) -> bool:
        return bool(self.num_slots) and not self.calls and not self.lone


class Pools:
    """Where requests go and outcomes come from. A request must not be in flight twice under one key."""

    def __init__(
        self,
        open_host: Callable[[], Host],
        on_message: Callable[[str], None] = lambda message: None,
        stuck_s: float = STUCK_S,
    ) -> None:
        """The host is opened when first needed: a job of which nothing is left to render loads no model."""
        self._stuck_s = stuck_s
        self._open_host = open_host
        self._opened_host: Host | None = None
        self._say = on_message
        self._members: list[_Member] = []
        self._events: queue.SimpleQueue[tuple[_Member, _Call | None, Future[Any]] | None] = queue.SimpleQueue()
        self._failed_starts: dict[str, int] = {}
        self._start_after: dict[str, float] = {}
        self._broken: dict[str, VoiceError] = {}
        self._past = Occupancy()
        self._noticed_at = 0.0

    def room_for(self, spec: ReplicaSpec, *, alone: bool = False, may_grow: bool = True) -> int:
        """How many more requests for this model are worth submitting now; starts replicas where there is place.

        may_grow: False while outcomes wait to be noted: a replica that looks idle may be asked again in a moment.

        Raises `VoiceError` where replicas of it don't start, again and again: that accuses no chunk.
        """
        if spec.model in self._broken:
            raise self._broken[spec.model]
        ready = [member for member in self._members if member.spec.model == spec.model and member.num_slots]
        if alone:
            num_aside = sum(member.is_set_aside for member in ready)
            num_free = max(1, len(ready) // 2) - num_aside if num_aside < len(ready) else 0
        else:
            num_free = sum(max(0, member.num_free()) for member in ready)
        if num_free <= 0 and may_grow:
            self._grow(spec)
        return max(0, num_free)

    def submit(self, request: Request, spec: ReplicaSpec, judge: JudgeRules, *, alone: bool = False) -> None:
        """Give a request to the replica with the most room; `alone`, to one that renders nothing else meanwhile."""
        members = [m for m in self._members if m.spec.model == spec.model and m.num_slots and not m.is_set_aside]
        if not alone:
            self._call(max(members, key=_Member.num_free), _Call(request, judge, alone))
            return
        member = min(members, key=lambda member: len(member.calls))
        member.is_set_aside = True
        member.lone = _Call(request, judge, alone)
        self._begin_lone(member)

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        """What has come back; empty after `timeout_s` seconds without anything, or when woken."""
        outcomes: list[Take | Failed] = []
        try:
            event = self._events.get(timeout=timeout_s)
            while True:
                if event is not None:
                    member, call, future = event
                    if call is None:
                        self._welcome(member, future)
                    else:
                        outcomes += self._outcomes(member, call, future)
                event = self._events.get(block=False)
        except queue.Empty:
            pass
        self._notice_waiting()
        return outcomes + self._give_up_stuck()

    def wake(self) -> None:
        """End a `wait`, from any thread: something else has happened that the loop should look at."""
        self._events.put(None)

    def num_replicas(self) -> int:
        """Those that render, or could."""
        return sum(1 for member in self._members if member.num_slots)

    def num_slots(self) -> int:
        return sum(member.num_slots for member in self._members)

    def occupancy(self) -> Occupancy:
        """Of all slots so far."""
        parts = [self._past, *(member.occupancy for member in self._members)]
        return Occupancy(sum(part.filled for part in parts), sum(part.offered for part in parts))

    def close(self) -> None:
        if self._opened_host is not None:
            self._opened_host.close()

    @property
    def _host(self) -> Host:
        if self._opened_host is None:
            self._opened_host = self._open_host()
        return self._opened_host

    def _grow(self, spec: ReplicaSpec) -> None:
        """Start replicas in the places that are left; else take the place of one that has nothing to do."""
        now = time.monotonic()
        if now < self._start_after.get(spec.model, 0.0):
            return
        of_engine = [member for member in self._members if member.spec.engine == spec.engine]
        missing = self._host.num_places(spec) - len(of_engine)
        for _ in range(missing):
            self._start(spec)
        waits = any(m.spec.model == spec.model and not m.num_slots and now - m.since > _NOTICE_S for m in of_engine)
        candidates = self._members if waits else of_engine if missing <= 0 else []
        for member in candidates:
            if member.spec.model != spec.model and member.is_idle():
                self._host.stop(member.handle)
                self._forget(member)
                if member.spec.engine == spec.engine:
                    self._start(spec)  # at once: a third model must not find the place empty, and lose it likewise
                return

    def _start(self, spec: ReplicaSpec) -> None:
        handle, opened = self._host.start(spec)
        member = _Member(spec, handle, time.monotonic())
        self._members.append(member)
        opened.add_done_callback(lambda future: self._events.put((member, None, future)))

    def _welcome(self, member: _Member, opened: Future[int]) -> None:
        model = member.spec.model
        error = opened.exception()
        if error is None:
            member.num_slots = opened.result()
            self._failed_starts[model] = 0
            return
        if member in self._members:
            self._members.remove(member)
        kind, message = self._host.explain(member.handle, error)
        if kind == "lost":
            self._start_after[model] = time.monotonic() + _RETRY_LOST_S
            return
        self._failed_starts[model] = self._failed_starts.get(model, 0) + 1
        is_final = isinstance(error, NoEnvironmentError)  # no other try would fare better
        if self._failed_starts[model] < self._host.num_tries and not is_final:
            return
        if any(other.spec.model == model and other.num_slots for other in self._members):
            if time.monotonic() >= self._start_after.get(model, 0.0):
                self._say(f"A worker didn't start ({message}); the others go on, and it is tried again in a minute.")
            self._start_after[model] = time.monotonic() + _RETRY_START_S
        else:
            alone = self._host.num_tries == 1 or is_final
            self._broken[model] = VoiceError(message if alone else f"No worker can start with this voice: {message}")

    def _call(self, member: _Member, call: _Call) -> None:
        member.heard_at = member.heard_at if member.calls else time.monotonic()
        member.calls[call.request.key] = call
        future = self._host.call(member.handle, call.request, call.judge)
        future.add_done_callback(lambda future: self._events.put((member, call, future)))

    def _begin_lone(self, member: _Member) -> None:
        if member.lone and not member.calls:
            lone, member.lone = member.lone, None
            self._call(member, lone)

    def _outcomes(self, member: _Member, call: _Call, future: Future[Answer]) -> list[Take | Failed]:
        """What came of a call; and where it tells of a replica's death, of what was still to begin there."""
        request = call.request
        if member.calls.pop(request.key, None) is None:
            return []  # it was given up before it answered
        member.heard_at = time.monotonic()
        outcomes: list[Take | Failed] = []
        error = future.exception()
        if error is None:
            answer = future.result()
            member.occupancy = max(member.occupancy, answer.occupancy, key=lambda one: one.offered)
            outcome = answer.outcome
            outcomes.append(replace(outcome, alone=call.alone) if isinstance(outcome, Failed) else outcome)
        else:
            kind, message = member.death or self._host.explain(member.handle, error)
            outcomes.append(Failed(request.key, request.attempt, kind, message, call.alone))
            if kind != "exception":
                outcomes += self._bury(member, kind, message)
        if call.alone:
            member.is_set_aside = False
        self._begin_lone(member)
        return outcomes

    def _give_up_stuck(self) -> list[Take | Failed]:
        """Replicas that have work and have been silent for too long die by our hand."""
        outcomes: list[Take | Failed] = []
        for member in [*self._members]:
            silence = time.monotonic() - member.heard_at
            if not member.calls or silence < self._stuck_s:
                continue
            message = f"its worker gave no answer for {silence / 60:.0f} minutes"
            calls, member.calls = member.calls, {}
            outcomes += [Failed(c.request.key, c.request.attempt, "crash", message, c.alone) for c in calls.values()]
            outcomes += self._bury(member, "crash", message)
        return outcomes

    def _bury(self, member: _Member, kind: FailureKind, message: str) -> list[Take | Failed]:
        if member.death:
            return []
        member.death = kind, message
        self._say(f"A worker is given up: {message}. What it was rendering goes back.")
        self._forget(member)
        self._host.abandon(member.handle)  # also where it may only be out of reach
        if member.lone is None:
            return []
        request, member.lone = member.lone.request, None
        return [Failed(request.key, request.attempt, "lost", message)]  # it had not begun

    def _forget(self, member: _Member) -> None:
        self._members.remove(member)
        self._past = Occupancy(
            self._past.filled + member.occupancy.filled, self._past.offered + member.occupancy.offered
        )

    def _notice_waiting(self) -> None:
        """Say, now and then, that nothing can be rendered for want of a place."""
        now = time.monotonic()
        starting = [member for member in self._members if not member.num_slots]
        if self.num_replicas() or not starting or now - max(self._noticed_at, starting[0].since) < _NOTICE_S:
            return
        self._noticed_at = now + 50  # then once a minute
        workers = "1 worker" if len(starting) == 1 else f"{len(starting)} workers"
        self._say(f"Waiting for {workers} to start: for room on the cluster, or for the model to load.")


@dataclass(slots=True)
class LocalHost:
    """Replicas in this process: no Ray, and the same meaning."""

    num_tries: int = 1
    _replicas: list[Replica] = field(default_factory=list)

    def num_places(self, spec: ReplicaSpec) -> int:
        return spec.num_replicas or 1

    def start(self, spec: ReplicaSpec) -> tuple[Replica, Future[int]]:
        replica = Replica(spec)
        self._replicas.append(replica)
        return replica, replica.opened

    def call(self, handle: Replica, request: Request, judge: JudgeRules) -> Future[Answer]:
        return handle.submit(request, judge)

    def stop(self, handle: Replica) -> None:
        self._replicas.remove(handle)
        handle.close()

    def abandon(self, handle: Replica) -> None:
        self._replicas.remove(handle)  # its thread can't be ended, but it is nobody's any more

    def explain(self, handle: Replica, error: BaseException) -> tuple[FailureKind, str]:
        return ("exception" if handle.opened.exception() else "crash"), said(error)

    def close(self) -> None:
        for replica in self._replicas:
            if replica.opened.done():  # else its thread ends with the process
                replica.close()


def said(error: BaseException) -> str:
    """An error as a sentence: ours are, others are named."""
    return str(error) if isinstance(error, VoiceError) else f"{type(error).__name__}: {error}"
