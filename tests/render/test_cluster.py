"""Replicas on Ray mean the same as one worker in this process, whatever dies."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.conftest import digests, write_voice
from tests.render.test_session import left, wait_until
from tests.test_cli import wait_for

pytestmark = pytest.mark.ray


def write_books(folder: Path, num_books: int, num_sentences: int) -> list[Path]:
    """Books of two chapters whose sentences are all different, each a chunk of its own by the tone's count."""
    sources = []
    for book in range(num_books):
        chapters = []
        for chapter in (1, 2):
            told = (
                f"In book {book} and chapter {chapter} this is sentence {n}, which says nothing that a listener would "
                f"keep, yet goes on for long enough to be a chunk, number {n} of them."
                for n in range(num_sentences // 2)
            )
            chapters.append(f"Chapter {chapter}\n\n" + "\n\n".join(told))
        sources.append(folder / f"book{book}.txt")
        sources[-1].write_text("\n\n".join(chapters))
    return sources


def write_manifest(path: Path, sources: list[Path], **keys: object) -> Path:
    books = "".join(f"  - source: {source}\n" for source in sources)
    path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items()) + f"books:\n{books}")
    return path


def write_tone(folder: Path, *faults: str, **options: object) -> Path:
    voice = write_voice(folder, *faults)
    voice.write_text(voice.read_text() + "".join(f"  {name}: {value}\n" for name, value in options.items()))
    return voice


def reports(folder: Path) -> dict[str, dict]:
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(folder.glob("*/report.json"))}


def all_digests(folder: Path) -> dict[str, dict[str, str]]:
    return {book.name: digests(book) for book in sorted(folder.iterdir()) if book.is_dir()}


@pytest.mark.speech
def test_one_worker_and_two_and_four_make_the_same_bytes(command, small_book, tmp_path):
    """One job of three voices, two of them of one engine: so replicas also give up their places."""
    other = write_tone(tmp_path)
    job = tmp_path / "job.yaml"
    for workers in (1, 2, 4):
        job.write_text(
            f"output: out-{workers}\nworkers: {workers}\nbooks:\n"
            f"  - {{source: {small_book}, voice: tone, output: out-{workers}/tone}}\n"
            f"  - {{source: {small_book}, voice: joe, output: out-{workers}/joe}}\n"
            f"  - {{source: {small_book}, voice: {other}, output: out-{workers}/other, seed: 1}}\n"
        )
        ran = command(job)
        assert ran.code == 0, ran.err
    one = all_digests(tmp_path / "out-1")
    assert set(one) == {"tone", "joe", "other"}
    assert all(one.values())
    assert all_digests(tmp_path / "out-2") == one
    assert all_digests(tmp_path / "out-4") == one


def test_a_poison_chunk_among_sixteen_is_listed_and_no_innocent_is(command, tmp_path):
    voice = write_tone(tmp_path, "{match: 'sentence nine,', do: die}", slots=8, seconds_per_take=0.3)
    [source] = write_books(tmp_path, 1, 40)
    ran = command(source, "--voice", voice, "--workers", 2)
    assert ran.code == 6, ran.err
    report = json.loads((tmp_path / "output" / "book0" / "report.json").read_text())
    missing = [one["text"] for one in report["missing"]]
    assert len(missing) == 2, "one a chapter"
    assert all("sentence nine," in text for text in missing)
    assert "died" in report["missing"][0]["reason"]
    assert report["num_rendered"] == report["num_chunks"] - 2
    assert missing[0][:40] in ran.out


def test_slots_stay_full_over_three_books_on_two_replicas(command, tmp_path):
    # Slow enough that a driver which shares its cores with other tests keeps up.
    voice = write_tone(tmp_path, slots=4, seconds_per_take=0.8)
    said = f"{{voice: {voice}, formats: flac}}"
    job = write_manifest(tmp_path / "job.yaml", write_books(tmp_path, 3, 60), workers=2, output="out", defaults=said)
    ran = command(job)
    assert ran.code == 0, ran.err
    report = json.loads((tmp_path / "out" / "job.report.json").read_text())
    assert report["slots_filled"] >= 0.95
    assert f"Slots {report['slots_filled']:.0%} full" in ran.out


def test_a_voice_that_no_worker_can_open_is_said_in_a_sentence_and_lists_nothing(command, small_book, tmp_path):
    """The model is there and right when the run begins; in the workers its package is not."""
    voice = tmp_path / "bad.yaml"
    voice.write_text("engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions: {opens: 'false'}\n")
    ran = command(small_book, "--voice", voice, "--workers", 2)
    assert ran.code == 5, ran.err
    assert "No worker can start" in ran.err
    voice.write_text("engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions: {opens: 'true'}\n")
    assert command(small_book, "--voice", voice, "--workers", 1).code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_answered_as_with_one_worker(small_book, tmp_path, number):
    slow = write_tone(tmp_path, seconds_per_take=0.5)
    running = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", small_book, "--voice", slow, "--workers", "2"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    wait_for(tmp_path / "output" / "small" / "takes", timeout_s=60)
    os.killpg(running.pid, number)  # as a terminal does
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "to go on" in err
    assert "Traceback" not in err
    with sqlite3.connect(tmp_path / "output" / "small" / "ledger.sqlite") as ledger:
        assert ledger.execute("SELECT COUNT(*) FROM in_flight").fetchone() == (0,), "all that was in flight came back"


@pytest.mark.parametrize(("ends", "within_s"), [("by itself", 10), ("by a signal", 10), ("killed", 120)])
def test_a_job_leaves_nothing_behind(tmp_path, ends, within_s):
    """No process, of Ray or the stitcher's, no socket and no folder; with a book that fails among those that don't."""
    voice = write_tone(tmp_path, seconds_per_take=0.1)
    sources = write_books(tmp_path, 2, 10)
    (tmp_path / "empty.txt").write_text("* * *")
    sources.append(tmp_path / "empty.txt")
    job = write_manifest(tmp_path / "job.yaml", sources, workers=2, output="out", defaults=f"{{voice: {voice}}}")
    root = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))  # not `tmp_path`, which is too long for Ray's sockets
    running = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", job],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(root)},
    )  # fmt: skip
    wait_for(tmp_path / "out" / "book0" / "takes", timeout_s=60)
    assert len(left(root)) > 5
    if ends != "by itself":
        running.send_signal(signal.SIGKILL if ends == "killed" else signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == {"by itself": 6, "by a signal": 130, "killed": -9}[ends], err
    wait_until(lambda: left(root) == [], timeout_s=within_s)
    root.rmdir()
