"""Killed anywhere, a run goes on: only what is missing is rendered, and the chapters are the same bytes.

The kill is `SIGKILL` to the process that renders, right before or right after each thing it makes durable.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from pathlib import Path

import pytest

from tests.conftest import digests

FORK = multiprocessing.get_context("forkserver")
# With what a run imports when it first needs it: two seconds each (nltk takes scipy along), some 250 times.
WANTED = ["pipeline.manuscript.read", "pipeline.engines.tone", "nltk.tokenize.punkt", "av"]
FORK.set_forkserver_preload(["pipeline.run", "tests.test_resume", *WANTED])


def render_and_die(source: Path, output: Path, voice: str, kill_at: int, counter: Path) -> None:
    """Render a book; at the `kill_at`-th durable step (0: never) die. Leaves the number of steps in `counter`."""
    from pipeline.job import BookJob, Job
    from pipeline.render import store
    from pipeline.render.loop import Clock
    from pipeline.run import render_job

    num_steps = 0
    one_at_a_time = threading.Lock()  # takes that come back together are written together

    def step() -> None:
        nonlocal num_steps
        with one_at_a_time:
            num_steps += 1
            if num_steps == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    fsync, replace, commit = os.fsync, Path.replace, store.Store._transaction

    def fsync_then_die(descriptor: int) -> None:
        fsync(descriptor)
        step()

    def replace_then_die(self: Path, target: Path) -> Path:
        done = replace(self, target)
        step()
        return done

    def commit_then_die(self: store.Store):  # a context manager, as the one it stands for
        class Commit:
            def __enter__(inner) -> None:
                inner.transaction = commit(self)
                inner.transaction.__enter__()

            def __exit__(inner, *error: object) -> None:
                step()  # all statements made, none committed
                inner.transaction.__exit__(*error)
                step()

        return Commit()

    os.fsync, Path.replace, store.Store._transaction = fsync_then_die, replace_then_die, commit_then_die  # type: ignore[method-assign]
    job = Job((BookJob(source, voice=voice, output=output),))
    render_job(job, Clock(), lambda progress: None, lambda message: None)
    counter.write_text(str(num_steps))


def run(source: Path, output: Path, voice: str, kill_at: int = 0) -> tuple[int, int]:
    """The exit code of a run (negative: its signal), and how many durable steps it made if it lived."""
    counter = output.parent / "steps"
    process = FORK.Process(target=render_and_die, args=(source, output, voice, kill_at, counter))
    process.start()
    process.join(120)
    return process.exitcode or 0, int(counter.read_text()) if process.exitcode == 0 else 0


def is_killed_and_resumed(source: Path, folder: Path, voice: str, kill_at: int, whole: dict[str, str]) -> bool:
    """False where it had ended by then: the more takes come back together, the fewer commits there are."""
    code, _ = run(source, folder, voice, kill_at)
    if code == 0:
        return False
    assert code == -signal.SIGKILL
    kept = {path.name for path in (folder / "takes").rglob("*.flac") if not path.name.startswith(".")}
    code, _ = run(source, folder, voice)
    assert code == 0
    assert digests(folder) == whole, f"killed at step {kill_at}"
    assert not [*folder.rglob("*.part")], "no half-written file is left"
    report = json.loads((folder / "report.json").read_text())
    assert report["missing"] == []
    # Takes whose bytes are whole but whose rows aren't are rendered again: at most what was in flight.
    assert 0 <= report["num_rendered"] - (report["num_chunks"] - len(kept)) <= 3
    assert report["num_again"] <= 3
    assert report["num_rendered"] + report["num_reused"] == report["num_chunks"]
    return True


@pytest.mark.slow
def test_killed_at_every_durable_step_of_a_small_book(small_book, tmp_path):
    code, num_steps = run(small_book, tmp_path / "whole", "tone")
    assert code == 0
    assert num_steps > 40
    whole = digests(tmp_path / "whole")
    killed_at = [
        kill_at
        for kill_at in range(1, num_steps + 1)
        if is_killed_and_resumed(small_book, tmp_path / f"killed-{kill_at}", "tone", kill_at, whole)
    ]
    assert len(killed_at) > 40


@pytest.mark.slow
def test_killed_again_and_again(small_book, tmp_path):
    """Every run dies a little later than the one before, in one folder."""
    run(small_book, tmp_path / "whole", "tone")
    for kill_at in range(1, 200, 3):
        code, _ = run(small_book, tmp_path / "killed", "tone", kill_at)
        if code == 0:
            break
    assert code == 0
    assert digests(tmp_path / "killed") == digests(tmp_path / "whole")


@pytest.mark.speech
def test_speech_killed_six_times(small_book, tmp_path):
    code, num_steps = run(small_book, tmp_path / "whole", "joe")
    assert code == 0
    whole = digests(tmp_path / "whole")
    for k in range(6):
        kill_at = 1 + k * (num_steps - 1) // 5
        assert is_killed_and_resumed(small_book, tmp_path / f"killed-{k}", "joe", kill_at, whole)
