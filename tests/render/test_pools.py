"""Whatever a model does, its requests are answered; and the pool knows who has room, who is set aside, who died."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from pipeline.engines.base import Failed, Hardware, RawTake, Request, num_sharing
from pipeline.engines.tone import ToneFrontend, open_engine
from pipeline.errors import NoEnvironmentError, VoiceError
from pipeline.profile import read_profile
from pipeline.render.pools import LocalHost, Pools
from pipeline.render.replica import Answer, Occupancy, Replica, ReplicaSpec
from pipeline.render.takes import Take
from pipeline.voices import read_voice

RATE = ToneFrontend.spec.sample_rate
JUDGE = read_profile(None).judge_rules()


class Broken:
    """Two slots. It raises for texts that say where."""

    def __init__(self) -> None:
        self.rows: list[Request] = []

    @property
    def free_slots(self) -> int:
        return 2 - len(self.rows)

    def admit(self, request: Request) -> None:
        if "admit" in request.text:
            raise ValueError("not admitted")
        self.rows.append(request)

    def step(self) -> list[RawTake | Failed]:
        if any("step" in row.text for row in self.rows):
            raise MemoryError("CUDA out of memory")
        done = [Failed(row.key, row.attempt, "exception", "as told") for row in self.rows]
        self.rows.clear()
        return list(done)


def spec_of(open_engine, model: str = "m", num_replicas: int = 1) -> ReplicaSpec:
    return ReplicaSpec(model, "tone", open_engine, RATE, num_replicas)


def ask(pools: Pools, spec: ReplicaSpec, *texts: str) -> dict[str, Take | Failed]:
    waiting = list(texts)
    outcomes: dict[str, Take | Failed] = {}
    for _ in range(100):
        for _ in range(pools.room_for(spec)):
            if waiting:
                text = waiting.pop(0)
                pools.submit(Request(text, text, 0, 1, 1000), spec, JUDGE)
        outcomes |= {outcome.key: outcome for outcome in pools.wait(1.0)}
        if len(outcomes) == len(texts):
            return outcomes
    raise AssertionError(f"only {set(outcomes)} were answered")


def test_an_engine_that_raises_answers_its_rows_and_goes_on():
    pools = Pools(LocalHost)
    outcomes = ask(pools, spec_of(Broken), "admit this", "step on this", "and this", "that too")
    assert outcomes["admit this"].message == "ValueError: not admitted"
    assert outcomes["step on this"].kind == "out of memory"
    assert outcomes["that too"].message == "as told"
    pools.close()


def test_an_engine_that_cannot_open_again_is_an_error_and_not_a_hang():
    opened = []

    def once() -> Broken:
        if opened:
            raise RuntimeError("gone")
        opened.append(True)
        return Broken()

    pools, spec = Pools(LocalHost), spec_of(once)
    assert ask(pools, spec, "step")["step"].kind == "out of memory"
    assert ask(pools, spec, "next")["next"].kind == "crash", "a suspect, so that it isn't asked for for ever"
    with pytest.raises(VoiceError, match="gone"):
        ask(pools, spec, "another")
    pools.close()


def test_a_request_that_comes_as_the_replica_goes_down_is_answered():
    """Found in issue 3: a request put just after the thread had died waited for ever."""

    class Dying(Broken):
        def step(self) -> list[RawTake | Failed]:
            raise SystemExit(1)

    for _ in range(50):
        replica = Replica(spec_of(Dying))
        replica.opened.result(5)
        futures = [replica.submit(Request(str(n), "x", 0, 1, 10), JUDGE) for n in range(20)]
        assert all(isinstance(future.exception(5), SystemExit) for future in futures)


def test_closing_does_not_begin_what_waits():
    replica = Replica(spec_of(lambda: open_engine(read_voice("tone"), Hardware())))
    futures = [replica.submit(Request(str(number), "word " * 40, 0, 1, 1000), JUDGE) for number in range(50)]
    replica.close()
    assert sum(future.done() for future in futures) < 50


class FakeHost:
    """Replicas of two slots that answer, or die, when a test says so."""

    num_tries = 3

    def __init__(self) -> None:
        self.calls: dict[int, dict[str, Future[Answer]]] = {}
        self.starts: dict[int, Future[int]] = {}
        self.stopped: list[int] = []

    def num_places(self, spec: ReplicaSpec) -> int:
        return spec.num_replicas or 1

    def start(self, spec: ReplicaSpec) -> tuple[int, Future[int]]:
        handle = len(self.starts)
        self.calls[handle], self.starts[handle] = {}, Future()
        return handle, self.starts[handle]

    def call(self, handle: int, request: Request, judge: Any) -> Future[Answer]:
        self.calls[handle][request.key] = Future()
        return self.calls[handle][request.key]

    def stop(self, handle: int) -> None:
        self.stopped.append(handle)

    abandon = stop

    def explain(self, handle: int, error: BaseException) -> tuple[Any, str]:
        return error.args[0], "it died"

    def close(self) -> None:
        pass

    def answer(self, handle: int, key: str) -> None:
        outcome = Failed(key, 0, "exception", "answered")
        self.calls[handle].pop(key).set_result(Answer(outcome, Occupancy(1, 2)))

    def die(self, handle: int, kind: str) -> None:
        for future in self.calls.pop(handle).values():
            future.set_exception(RuntimeError(kind))


def opened(host: FakeHost, pools: Pools, spec: ReplicaSpec) -> None:
    """Start all replicas that there is place for."""
    while pools.room_for(spec) == 0:
        for future in host.starts.values():
            if not future.done():
                future.set_result(2)
        pools.wait(0.1)
    assert pools.num_replicas() >= 1


def submit(pools: Pools, spec: ReplicaSpec, *keys: str, alone: bool = False) -> None:
    for key in keys:
        pools.submit(Request(key, key, 0, 1, 10), spec, JUDGE, alone=alone)


def test_an_environment_that_cannot_be_built_is_asked_for_once():
    host = FakeHost()
    pools, spec = Pools(lambda: host), spec_of(Broken)
    assert pools.room_for(spec) == 0
    host.starts[0].set_exception(NoEnvironmentError("exception"))
    pools.wait(1)
    with pytest.raises(VoiceError, match=r"^it died$"):
        pools.room_for(spec)
    assert len(host.starts) == 1


def test_a_suspect_waits_for_a_replica_of_its_own_and_the_others_go_on():
    host = FakeHost()
    pools, spec = Pools(lambda: host), spec_of(Broken, num_replicas=2)
    opened(host, pools, spec)
    submit(pools, spec, "a", "b")
    assert pools.room_for(spec, alone=True) == 1
    submit(pools, spec, "suspect", alone=True)
    assert pools.room_for(spec, alone=True) == 0, "half of the replicas render on"
    aside = next(handle for handle, calls in host.calls.items() if "a" in calls)
    other = 1 - aside
    assert "suspect" not in host.calls[aside]
    submit(pools, spec, "c")
    assert set(host.calls[other]) == {"b", "c"}
    host.answer(aside, "a")
    pools.wait(0.1)
    assert set(host.calls[aside]) == {"suspect"}
    host.die(aside, "crash")
    [failed] = pools.wait(0.1)
    assert (failed.key, failed.kind, failed.alone) == ("suspect", "crash", True)


def test_a_suspect_that_had_not_begun_is_not_accused_again():
    host = FakeHost()
    pools, spec = Pools(lambda: host), spec_of(Broken)
    opened(host, pools, spec)
    submit(pools, spec, "a", "b")
    submit(pools, spec, "suspect", alone=True)
    host.die(0, "crash")
    kinds = {failed.key: failed.kind for failed in pools.wait(0.1)}
    assert kinds == {"a": "crash", "b": "crash", "suspect": "lost"}


def test_all_calls_of_a_lost_replica_are_lost_alike():
    host = FakeHost()
    pools, spec = Pools(lambda: host), spec_of(Broken)
    opened(host, pools, spec)
    submit(pools, spec, "a", "b", "c")
    host.die(0, "lost")
    assert {failed.kind for failed in pools.wait(0.1)} == {"lost"}
    assert pools.room_for(spec) == 0
    assert len(host.starts) == 2, "it is replaced"


def test_a_replica_that_never_answers_is_given_up_and_what_it_says_later_is_nobodys():
    host = FakeHost()
    pools, spec = Pools(lambda: host, stuck_s=0.2), spec_of(Broken)
    opened(host, pools, spec)
    submit(pools, spec, "a", "b")
    assert pools.wait(0.1) == []
    failed = pools.wait(0.2)
    assert {(one.key, one.kind) for one in failed} == {("a", "crash"), ("b", "crash")}
    assert host.stopped == [0]
    host.answer(0, "a")
    assert pools.wait(0.1) == []
    opened(host, pools, spec)


def test_a_model_takes_the_place_of_one_that_has_nothing_to_do_and_of_no_other():
    host = FakeHost()
    pools, first, second = Pools(lambda: host), spec_of(Broken, "first"), spec_of(Broken, "second")
    opened(host, pools, first)
    submit(pools, first, "a")
    assert pools.room_for(second) == 0
    assert host.stopped == []
    host.answer(0, "a")
    pools.wait(0.1)
    assert pools.room_for(second) == 0
    assert host.stopped == [0]
    opened(host, pools, second)
    assert len(host.starts) == 2


def test_a_model_that_no_replica_opens_is_given_up_after_three():
    host = FakeHost()
    pools, spec = Pools(lambda: host), spec_of(Broken)
    for _ in range(3):
        assert pools.room_for(spec) == 0
        host.starts[len(host.starts) - 1].set_exception(RuntimeError("exception"))
        pools.wait(0.1)
    with pytest.raises(VoiceError, match="it died"):
        pools.room_for(spec)


def test_starts_that_a_lost_machine_undid_are_not_counted(monkeypatch):
    monkeypatch.setattr("pipeline.render.pools._RETRY_LOST_S", 0)
    host = FakeHost()
    pools, spec = Pools(lambda: host), spec_of(Broken)
    for _ in range(5):
        assert pools.room_for(spec) == 0
        host.starts[len(host.starts) - 1].set_exception(RuntimeError("lost"))
        pools.wait(0.1)
    opened(host, pools, spec)


def test_a_chunk_whose_death_takes_the_replica_down_is_not_asked_for_for_ever():
    """A step that raises, after which the model doesn't open, though a new replica does (found in review)."""
    openings = iter([True, False] * 50)

    def sometimes() -> Broken:
        if next(openings):
            return Broken()
        raise RuntimeError("no memory just now")

    pools, spec = Pools(LocalHost), spec_of(sometimes)
    kinds = {ask(pools, spec, f"step {number}")[f"step {number}"].kind for number in range(4)}
    assert kinds <= {"out of memory", "crash"}, "each leaves its trace, and two lone ones list it"
    pools.close()


@pytest.mark.parametrize(
    ("devices", "each", "replicas"),
    [(2, 0.4, 4), (2, 0.5, 4), (1, 0.3, 3), (4, 1, 4), (5, 2, 2), (0, 0.5, 0), (3, 1 / 3, 9)],
)
def test_a_fraction_of_a_gpu_lies_on_one_gpu(devices, each, replicas):
    assert num_sharing(devices, each) == replicas
