"""Several books in one loop: whatever answers, refusals and deaths come when, each book ends as if it were alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from random import Random
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from pipeline.engines.base import Failed, Request
from pipeline.engines.tone import ToneFrontend
from pipeline.errors import VoiceError
from pipeline.render.backlog import Backlog, Composite, RenderRules, as_outcome
from pipeline.render.loop import Clock, Loop
from pipeline.render.pools import Pools
from pipeline.render.replica import Answer, Occupancy, ReplicaSpec
from pipeline.render.takes import Finding, Level, Outcome, Take
from pipeline.script.script import Boundary, Chunk
from tests.render.test_pools import JUDGE, RATE, Broken, FakeHost

ATTEMPTS = 2
FATES = {
    "Plain": 0,
    "Once": 1,  # its first take is refused
    "Whole": ATTEMPTS,  # refused unless it is split
    "Greedy": 0,  # runs out of memory unless it is alone
    "Never": None,
    "Raises": None,
    "Poison": None,
}
"""What a chunk does, as its first word says; and the attempt that is accepted in the end, or None: it is listed."""


def take(key: str, attempt: int, refusal: str = "") -> Take:
    findings = (Finding("a-002", refusal, "refuse"),) if refusal else ()
    return Take(key, attempt, "eos", 1, 1920, RATE, Level(-20, -17, 0, 0), findings, b"fLaC")


def chunk(fate: str, number: int) -> Chunk:
    text = f"{fate} is how number {number} begins. The rest of number {number} follows."
    return Chunk(f"{fate}-{number}", text, text, 20, (), 1, number, Boundary.PARAGRAPH)


class Ledger:
    """What `Store` keeps of outcomes, in memory."""

    def __init__(self) -> None:
        self.outcomes: defaultdict[str, list[Outcome]] = defaultdict(list)

    def record(self, outcomes: Sequence[Take | Failed], in_flight: Any = None) -> None:
        for outcome in outcomes:
            self.outcomes[outcome.key].append(as_outcome(outcome))


class FakeBook:
    def __init__(self, chunks: Sequence[Chunk], ledger: Ledger, spec: ReplicaSpec) -> None:
        history = {key: list(outcomes) for key, outcomes in ledger.outcomes.items()}
        self.backlog = Backlog(chunks, history, ToneFrontend(), "en", RenderRules(ATTEMPTS, 1, {}), 0)
        self.store: Any = ledger
        self.spec = spec
        self.judge = JUDGE
        self.finished: list[int] = []

    def compose(self, composite: Composite) -> Take:
        return take(composite.key, composite.attempt)

    def on_outcome(self, outcome: Take | Failed) -> None:
        pass

    def on_chapter(self, index: int) -> None:
        self.finished.append(index)


class FakeShelf:
    """Opens its books at random times, in order."""

    def __init__(self, books: Sequence[FakeBook], random: Random) -> None:
        self.waiting = list(books)
        self.open: list[FakeBook] = []
        self.failed: list[tuple[FakeBook, Exception]] = []
        self._random = random

    def books(self) -> tuple[FakeBook, ...]:
        return tuple(self.open)

    def tend(self, *, is_stopping: bool) -> bool:
        if is_stopping:
            return False
        self.open = [book for book in self.open if book.backlog.is_open()]
        if self.waiting and (not self.open or self._random.random() < 0.5):
            self.open.append(self.waiting.pop(0))
        return bool(self.open or self.waiting)

    def fail(self, book: Any, error: Exception) -> None:
        self.open.remove(book)
        self.failed.append((book, error))


class RandomHost(FakeHost):
    """Does as chunks' fates say, and loses replicas, in an order that nobody planned."""

    def __init__(self, random: Random) -> None:
        super().__init__()
        self._random = random
        self._requests: dict[str, Request] = {}
        self._losses_left = 5

    def call(self, handle: int, request: Request, judge: Any) -> Future[Answer]:
        assert not any(request.key in calls for calls in self.calls.values()), f"{request.key} is in flight twice"
        if handle in self.calls:
            self._requests[request.key] = request
            return super().call(handle, request, judge)
        dead: Future[Answer] = Future()
        dead.set_exception(RuntimeError("lost"))
        return dead

    def stop(self, handle: int) -> None:
        assert not self.calls.pop(handle), "it has something to do"

    def act(self) -> None:
        starting = [future for future in self.starts.values() if not future.done()]
        busy = [(handle, key) for handle, calls in self.calls.items() for key in calls]
        if starting and self._random.random() < 0.5:
            future = self._random.choice(starting)
            self._lose_start(future) if self._may_lose() else future.set_result(2)
        elif busy:
            handle, key = self._random.choice(busy)
            self.die(handle, "lost") if self._may_lose() else self._meet_fate(handle, key)
        elif starting:
            self._random.choice(starting).set_result(2)

    def _may_lose(self) -> bool:
        is_lost = self._losses_left > 0 and self._random.random() < 0.05
        self._losses_left -= is_lost
        return is_lost

    def _lose_start(self, future: Future[int]) -> None:
        handle = next(handle for handle, other in self.starts.items() if other is future)
        del self.calls[handle]
        future.set_exception(RuntimeError("lost"))

    def _meet_fate(self, handle: int, key: str) -> None:
        request = self._requests[key]
        fate = request.text.split()[0]
        is_whole = "begins" in request.text and "follows" in request.text
        if fate == "Poison":
            self.die(handle, "crash")
            return
        outcome: Take | Failed = take(key, request.attempt)
        if fate == "Raises":
            outcome = Failed(key, request.attempt, "exception", "as told")
        elif fate == "Greedy" and len(self.calls[handle]) > 1:
            outcome = Failed(key, request.attempt, "out of memory", "as told")
        elif fate == "Never" or (fate == "Whole" and is_whole) or (fate == "Once" and request.attempt == 0):
            outcome = take(key, request.attempt, "as told")
        self.calls[handle].pop(key).set_result(Answer(outcome, Occupancy(1, 2)))


class Killed(Exception):
    pass


class DrivenPools(Pools):
    """Its host acts only while the loop waits; what it did is heard at once, or after the loop's next turn."""

    def __init__(self, host: RandomHost, random: Random, interrupt: Mapping[int, Any]) -> None:
        super().__init__(lambda: host)
        self._acting = host
        self._random = random
        self._interrupt = interrupt
        self._num_waits = 0
        self._num_empty = 0

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        self._num_waits += 1
        self._interrupt.get(self._num_waits, lambda: None)()
        num_actions = self._random.randint(1, 4)
        num_heard = self._random.randint(0, num_actions)
        for _ in range(num_heard):
            self._acting.act()
        outcomes = super().wait(0.0)
        for _ in range(num_actions - num_heard):
            self._acting.act()
        self._num_empty = 0 if outcomes else self._num_empty + 1
        assert self._num_empty < 200, "nothing happens any more"
        return outcomes


def render(books: Sequence[FakeBook], random: Random, interrupt_at: int, *, is_kill: bool) -> None:
    clock, host = Clock(), RandomHost(random)

    def kill() -> None:
        raise Killed

    pools = DrivenPools(host, random, {interrupt_at: kill if is_kill else clock.stop})
    try:
        Loop(FakeShelf(books, random), pools, clock).run()
    except Killed:
        return
    assert not any(host.calls.values()), "what was in flight came back"


@pytest.fixture(autouse=True, scope="module")
def _no_pause():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.render.pools._RETRY_LOST_S", 0)
        yield


fates = st.lists(st.tuples(st.sampled_from([*FATES, "Plain", "Plain"]), st.integers(0, 2)), min_size=1, max_size=8)


@given(
    plans=st.lists(st.tuples(fates, st.sampled_from("ab")), min_size=1, max_size=4),
    num_replicas=st.integers(1, 3),
    interrupt_at=st.integers(1, 40),
    is_kill=st.booleans(),
    random=st.randoms(use_true_random=False),
)
@settings(max_examples=300, deadline=None, phases=set(Phase) - {Phase.explain})
def test_books_that_share_sentences_each_end_as_if_alone(plans, num_replicas, interrupt_at, is_kill, random):
    ledgers = [Ledger() for _ in plans]

    def open_books() -> list[FakeBook]:
        return [
            FakeBook(
                [chunk(fate, number) for fate, number in dict.fromkeys(chunks)],
                ledger,
                ReplicaSpec(model, "tone", Broken, RATE, num_replicas),
            )
            for (chunks, model), ledger in zip(plans, ledgers, strict=True)
        ]

    render(open_books(), random, interrupt_at, is_kill=is_kill)
    books = open_books()
    render(books, random, 0, is_kill=False)
    again = open_books()
    for book, reopened, ledger, (chunks, _) in zip(books, again, ledgers, plans, strict=True):
        expected = {f"{fate}-{number}": FATES[fate] for fate, number in chunks}
        assert book.backlog.accepted() == {key: attempt for key, attempt in expected.items() if attempt is not None}
        assert {one.chunk.key for one in book.backlog.listed()} == {key for key, at in expected.items() if at is None}
        assert book.backlog.num_resolved == book.backlog.num_chunks
        assert book.finished in ([1], []), "each chapter once"
        assert not reopened.backlog.is_open(), "the ledger says the same"
        for key, outcomes in ledger.outcomes.items():
            num_lone_deaths = sum(outcome.kind == "crash" and outcome.alone for outcome in outcomes)
            assert num_lone_deaths == (2 if key.startswith("Poison") else 0), (
                "none but the poison dies alone, and that twice"
            )
            accepted = [outcome.attempt for outcome in outcomes if outcome.kind == "accepted"]
            assert len(accepted) <= 1, "an accepted take is never rendered twice"


class Turns(Pools):
    """Pools whose host does what the test says, a step at each wait of the loop."""

    def __init__(self, host: FakeHost, *steps: Callable[[], object]) -> None:
        super().__init__(lambda: host)
        self._steps = [*steps, lambda: None]  # the last outcome is heard one turn later

    def wait(self, timeout_s: float) -> list[Take | Failed]:
        assert self._steps, "it never ends"
        self._steps.pop(0)()
        return super().wait(0.0)


def opens(host: FakeHost, handle: int) -> Callable[[], object]:
    return lambda: host.starts[handle].set_result(2)


def fails_to_open(host: FakeHost, handle: int) -> Callable[[], object]:
    return lambda: host.starts[handle].set_exception(RuntimeError("exception"))


def answers(host: FakeHost, handle: int, *takes: Take) -> Callable[[], object]:
    def answer() -> None:
        for one in takes:
            host.calls[handle].pop(one.key).set_result(Answer(one, Occupancy(1, 2)))

    return answer


def read_by(model: str, *chunks: Chunk, engine: str = "tone") -> FakeBook:
    return FakeBook(chunks, Ledger(), ReplicaSpec(model, engine, Broken, RATE, 1))


def shelf_of(*books: FakeBook) -> FakeShelf:
    shelf = FakeShelf([], Random(0))
    shelf.open = [*books]
    return shelf


def test_a_voice_that_breaks_fails_the_books_that_wait_for_a_shared_sentence_and_no_other():
    """Found here: a held request of the broken voice ended the whole job."""
    host, shared, own = FakeHost(), chunk("Plain", 1), chunk("Plain", 2)
    broken = read_by("broken", shared), read_by("broken", shared)
    sound = read_by("sound", own, engine="piper")
    shelf = shelf_of(*broken, sound)
    steps = (
        opens(host, 0),
        lambda: host.die(0, "lost"),
        *(fails_to_open(host, handle) for handle in (2, 3, 4)),
        opens(host, 1),
        answers(host, 1, take(own.key, 0)),
    )
    Loop(shelf, Turns(host, *steps), Clock()).run()
    assert [book for book, _ in shelf.failed] == [*broken]
    assert all(isinstance(error, VoiceError) for _, error in shelf.failed)
    assert sound.backlog.accepted() == {own.key: 0}


def test_a_place_is_not_taken_while_its_book_has_yet_to_hear_what_came_back():
    """Two voices, one place: a refused take's next attempt comes before the other book, and no model is reloaded."""
    host = FakeHost()
    first, second = read_by("a", chunk("Once", 1)), read_by("b", chunk("Plain", 1))
    steps = (
        opens(host, 0),
        answers(host, 0, take("Once-1", 0, "as told")),
        answers(host, 0, take("Once-1", 1)),
        opens(host, 1),
        answers(host, 1, take("Plain-1", 0)),
    )
    Loop(shelf_of(first, second), Turns(host, *steps), Clock()).run()
    assert host.stopped == [0]
    assert len(host.starts) == 2


def test_a_third_model_does_not_find_the_place_that_the_second_took():
    """Found here: two models that waited for one place took it from each other for ever."""
    host = FakeHost()
    books = [read_by(f"voice {number}", chunk("Plain", number)) for number in range(3)]
    steps = [step for n in range(3) for step in (opens(host, n), answers(host, n, take(f"Plain-{n}", 0)))]
    Loop(shelf_of(*books), Turns(host, *steps), Clock()).run()
    assert [book.backlog.accepted() for book in books] == [{"Plain-0": 0}, {"Plain-1": 0}, {"Plain-2": 0}]
    assert host.stopped == [0, 1]
