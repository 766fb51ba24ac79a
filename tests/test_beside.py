"""What is done beside the loop is done whatever dies, and nothing of it outlives the driver."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import wait
from pathlib import Path

import pytest

from pipeline.beside import Beside
from pipeline.errors import ManuscriptError, OutputError
from pipeline.job import BookJob
from pipeline.plan import make_plan


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def say_after(seconds: float, word: str) -> str:
    time.sleep(seconds)
    return word


def die_once(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        die()
    return "lives"


@pytest.mark.slow
def test_only_what_kills_its_process_fails(tmp_path):
    beside = Beside(1)
    killer = beside.submit(die)
    others = [beside.submit(say_after, 0.05, word) for word in "abc"]
    unlucky = beside.submit(die_once, tmp_path / "mark")
    wait([killer, *others, unlucky], 60)
    assert isinstance(killer.exception(), OutputError)
    assert [future.result() for future in (*others, unlucky)] == ["a", "b", "c", "lives"]
    beside.close(at_once=True)


@pytest.mark.slow
def test_a_book_is_planned_in_a_process_as_in_this_one(tmp_path, small_book):
    beside = Beside(1)
    job = BookJob(small_book, voice="tone")
    assert beside.submit(make_plan, job).result(60) == make_plan(job)
    missing = BookJob(tmp_path / "missing.txt", voice="tone")
    with pytest.raises(ManuscriptError) as here:
        make_plan(missing)
    there = beside.submit(make_plan, missing).exception(60)
    assert (type(there), str(there)) == (ManuscriptError, str(here.value))
    beside.close(at_once=True)


@pytest.mark.slow
def test_closing_at_once_does_not_wait_for_a_process():
    beside = Beside(1)
    futures = [beside.submit(say_after, 60, "late") for _ in range(3)]
    time.sleep(1)
    started = time.monotonic()
    beside.close(at_once=True)
    assert time.monotonic() - started < 10
    assert all(future.cancelled() for future in futures)
    assert beside.submit(say_after, 0, "never").cancelled()


def test_a_thread_finishes_what_it_does_and_passes_errors_on():
    done = []
    beside = Beside(on_done=lambda: done.append(True))
    failing, saying = beside.submit(int, "x"), beside.submit(say_after, 0.05, "said")
    wait([failing, saying])
    assert isinstance(failing.exception(), ValueError)
    assert saying.result() == "said"
    beside.close(at_once=True)
    assert done == [True, True]
