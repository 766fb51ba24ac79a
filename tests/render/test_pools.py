"""Whatever a model does, its requests are answered."""

from __future__ import annotations

import pytest

from pipeline.engines.base import Failed, Hardware, RawTake, Request
from pipeline.engines.tone import ToneFrontend, open_engine
from pipeline.job import read_profile
from pipeline.render.pools import LocalPool, ReplicaSpec
from pipeline.render.takes import Take
from pipeline.voices import read_voice

RATE = ToneFrontend.spec.sample_rate


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


def ask(pool: LocalPool, *texts: str) -> dict[str, Take | Failed]:
    for text in texts:
        pool.submit(Request(text, text, 0, 1, 1000))
    outcomes: dict[str, Take | Failed] = {}
    for _ in range(100):
        outcomes |= {outcome.key: outcome for outcome in pool.wait(1.0)}
        if len(outcomes) == len(texts):
            return outcomes
    raise AssertionError(f"only {set(outcomes)} were answered")


def open_pool(open_engine) -> LocalPool:
    return LocalPool(ReplicaSpec(open_engine, RATE, read_profile(None).judge_rules()))


def test_an_engine_that_raises_answers_its_rows_and_goes_on():
    pool = open_pool(Broken)
    outcomes = ask(pool, "admit this", "step on this", "and this", "that too")
    assert outcomes["admit this"].message == "ValueError: not admitted"
    assert outcomes["step on this"].kind == "out of memory"
    assert outcomes["that too"].message == "as told"
    pool.close()


def test_an_engine_that_cannot_open_again_is_an_error_and_not_a_hang():
    opened = []

    def once() -> Broken:
        if opened:
            raise RuntimeError("gone")
        opened.append(True)
        return Broken()

    pool = open_pool(once)
    pool.submit(Request("a", "step", 0, 1, 1000))
    with pytest.raises(RuntimeError, match="gone"):
        pool.wait(5.0)


def test_closing_does_not_begin_what_waits():
    pool = open_pool(lambda: open_engine(read_voice("tone"), Hardware()))
    for number in range(50):
        pool.submit(Request(str(number), "word " * 40, 0, 1, 1000))
    pool.close()
    assert len(pool.wait(0)) < 50
