"""Jobs of many books, at the level of their user: each ends as if it were alone, and none costs another anything."""

from __future__ import annotations

import gc
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from datetime import time as time_of_day
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from pipeline import line
from pipeline.job import Job
from pipeline.manifest import read_manifest
from pipeline.master.stitcher import stitch_chapter
from pipeline.render.loop import Clock
from pipeline.render.store import hold_folder
from pipeline.run import render_job
from tests.conftest import SMALL_BOOK, digests, report_of, write_voice
from tests.test_cli import wait_for

NAMES = ("one", "two", "three")
THINGS = {"one": "lamp", "two": "candle", "three": "torch"}


@pytest.fixture(autouse=True)
def three_books(tmp_path):
    """`one.txt`, `two.txt` and `three.txt`: two chapters and seven chunks each, of which most differ."""
    for number, name in enumerate(NAMES):
        text = SMALL_BOOK.replace("lamp", THINGS[name]).replace("42", str(42 + number))
        (tmp_path / f"{name}.txt").write_text(text.replace("again.", f"again. That was book {name}."))


def write_manifest(folder: Path, *books: str, name: str = "job", **keys: object) -> Path:
    """A manifest of these books, each a source and what else is said of it; one worker and the tone, if not said."""
    said = {"defaults": "{voice: tone, formats: flac}", "workers": 1} | keys
    entries = [f"  - {{source: {book}}}\n" for book in books or [f"{name}.txt" for name in NAMES]]
    path = folder / f"{name}.yaml"
    path.write_text("".join(f"{key}: {value}\n" for key, value in said.items()) + "books:\n" + "".join(entries))
    return path


def write_tone(folder: Path, name: str, *faults: str, **options: object) -> str:
    voice = write_voice(folder, *faults)
    text = voice.read_text() + "".join(f"  {key}: {value}\n" for key, value in options.items())
    voice.unlink()
    (folder / name).write_text(text)
    return name


def all_digests(folder: Path) -> dict[str, dict[str, str]]:
    return {book.name: digests(book) for book in sorted(folder.iterdir()) if book.is_dir()}


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
        return ledger.execute(query).fetchall()


def chunk_id(folder: Path, text: str) -> str:
    script = json.loads((folder / "script.json").read_text())
    return next(chunk["id"] for c in script["chapters"] for chunk in c["chunks"] if text in chunk["text"])


def start(folder: Path, *words: object) -> subprocess.Popen[str]:
    """The command in a process of its own, which a test may kill."""
    return subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", *map(str, words)],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_take(folder: Path) -> None:
    """Until the ledger of a book says of its first take that it is there."""
    wait_for(folder / "takes")
    until = time.monotonic() + 20
    while not rows(folder, "SELECT 1 FROM outcomes"):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_each_book_is_the_same_as_alone_and_the_same_command_again_renders_nothing(command, tmp_path):
    job = write_manifest(tmp_path, defaults="{voice: tone}")
    ran = command(job)
    assert ran.code == 0, ran.err
    assert "3 of 3 books delivered" in ran.out
    together = all_digests(tmp_path / "output")
    for name in NAMES:
        assert str(tmp_path / "output" / name / f"{name}.m4b") in ran.out.splitlines()
        assert command(f"{name}.txt", "--voice", "tone", "--output", f"alone/{name}", "--format", "flac").code == 0
    assert set(together["one"]) == {"001.flac", "002.flac"}
    assert together == all_digests(tmp_path / "alone")
    num_rows = [rows(tmp_path / "output" / name, "SELECT COUNT(*) FROM outcomes") for name in NAMES]
    again = command(job)
    assert again.code == 0
    assert "takes rendered" not in again.out
    assert again.out.count("7 of 7 chunks already there") == 3
    assert [rows(tmp_path / "output" / name, "SELECT COUNT(*) FROM outcomes") for name in NAMES] == num_rows


def test_books_that_fail_are_named_and_the_others_are_delivered(command, tmp_path):
    (tmp_path / "broken.epub").write_bytes(b"PK\x03\x04 and then nothing of an EPUB")
    command("one.txt", "--voice", "tone", "--output", "output/taken", "--workers", 1)
    job = write_manifest(
        tmp_path,
        "broken.epub",
        "one.txt",
        "two.txt, output: output/unknown chapter, chapters: 9",
        "three.txt, output: output/taken",
        "two.txt, output: output/held",
        "two.txt",
    )
    with hold_folder(tmp_path / "output" / "held"):
        ran = command(job)
    assert ran.code == 6
    assert "Traceback" not in ran.err
    failures = json.loads((tmp_path / "output" / "job.report.json").read_text())["failures"]
    assert [(Path(failure["source"]).name, failure["error"].split(":")[0]) for failure in failures] == [
        ("broken.epub", failures[0]["error"].split(":")[0]),
        ("two.txt", "There is no chapter 9"),
        ("three.txt", f"{tmp_path}/output/taken holds another book, 'one' from {tmp_path}/one.txt"),
        ("two.txt", f"{tmp_path}/output/held is being rendered into by process {os.getpid()} on {os.uname().nodename}"),
    ]
    for failure in failures:
        assert f"{failure['source']}: {failure['error']}" in ran.err
        assert f"Failed: {failure['source']}: {failure['error']}" in ran.out
    assert "2 of 6 books delivered" in ran.out
    assert set(digests(tmp_path / "output" / "one")) == set(digests(tmp_path / "output" / "two")) != set()
    assert command(job).code == 6, "and again"
    assert set(digests(tmp_path / "output" / "held")), "its folder is free now"


def test_a_chunk_that_cannot_be_rendered_is_listed_in_its_book_alone(command, tmp_path):
    voice = write_tone(tmp_path, "faulty.yaml", "{match: candle, do: raise}")
    ran = command(write_manifest(tmp_path, defaults=f"{{voice: {voice}, formats: flac}}"))
    assert ran.code == 6
    missing = {name: [m["text"] for m in report_of(tmp_path / "output" / name)["missing"]] for name in NAMES}
    assert (missing["one"], missing["three"]) == ([], [])
    assert missing["two"]
    assert all("candle" in text for text in missing["two"])
    assert missing["two"][0] in ran.out
    assert "output/two/report.json" in ran.err
    assert f"{len(missing['two'])} missing" in command("status", "job.yaml").out
    assert "3 of 3 books delivered" in ran.out


@pytest.mark.parametrize("names", [("one",), NAMES])
def test_a_report_that_cannot_be_written_fails_its_book_in_a_sentence(command, tmp_path, names):
    """Found here: the run ended with a `StopIteration` instead."""
    (tmp_path / "output" / "one" / "report.json").mkdir(parents=True)
    ran = command(write_manifest(tmp_path, *(f"{name}.txt" for name in names)))
    assert ran.code == 6, ran.err
    assert re.search(r"one\.txt: .*report\.json can't be written", ran.err)
    assert f"{len(names) - 1} of {len(names)} book" in ran.out


def test_a_report_of_the_job_that_cannot_be_written_does_not_keep_the_run_from_telling(command, tmp_path):
    """Found here: a night's run ended without a word on stdout."""
    (tmp_path / "output").touch()
    ran = command(write_manifest(tmp_path, "one.txt, output: here"))
    assert ran.code == 0
    assert "1 of 1 book delivered" in ran.out
    assert "job.report.json can't be written" in ran.err


def test_a_fault_of_ours_in_one_book_costs_no_other(command, tmp_path, monkeypatch):
    """Found here: only the opening of a book was guarded; a packer that raised ended the night of all."""
    pack = line.pack_m4b

    def pack_all_but_two(chapters: Any, tags: Any, path: Path) -> Any:
        if path.stem == "two":
            raise RuntimeError("nobody thought of this")
        return pack(chapters, tags, path)

    monkeypatch.setattr(line, "pack_m4b", pack_all_but_two)
    ran = command(write_manifest(tmp_path, defaults="{voice: tone}"))
    assert ran.code == 6
    assert "Failed: " in ran.out
    assert "RuntimeError: nobody thought of this" in ran.err, "with its traceback: it is for us"
    assert [(tmp_path / "output" / name / f"{name}.m4b").exists() for name in NAMES] == [True, False, True]


def test_the_only_book_of_a_manifest_fails_as_one_of_many_does(command, tmp_path):
    """Found here: its exit code was the error's own, and there was no report."""
    ran = command(write_manifest(tmp_path, "one.txt, chapters: 9"))
    assert ran.code == 6
    assert "Failed: " in ran.out
    [failure] = json.loads((tmp_path / "output" / "job.report.json").read_text())["failures"]
    assert failure["error"].startswith("There is no chapter 9")


def test_priority_decides_the_order_and_equals_keep_the_manifests(command, tmp_path):
    books = ("one.txt, priority: -1", "two.txt, output: out/a", "three.txt, priority: 5", "two.txt, output: out/b")
    assert command(write_manifest(tmp_path, *books)).code == 0
    folders = [tmp_path / "output/three", tmp_path / "out/a", tmp_path / "out/b", tmp_path / "output/one"]
    spans = [rows(folder, "SELECT MIN(recorded_at), MAX(recorded_at) FROM outcomes")[0] for folder in folders]
    assert spans == sorted(spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))


FAULTS = (
    "{match: 'was lit at six', do: clip, attempts: '0'}",
    "{match: 'night. In the', do: miss-eos}",
    "{match: 'to climb', do: miss-eos}",
    "{match: 'She asked', do: raise}",
)
"""A take that is refused once, a chunk that is split, one that is split in vain."""


def test_two_books_of_the_same_sentences_are_both_complete(command, tmp_path):
    """All their keys clash, also those of the parts of a chunk that is split, while eight are in flight."""
    voice = write_tone(tmp_path, "faulty.yaml", *FAULTS, slots=8, seconds_per_take=0.02)
    books = [f"one.txt, output: out/{name}" for name in "abc"]
    ran = command(write_manifest(tmp_path, *books, defaults=f"{{voice: {voice}, formats: flac}}"))
    assert ran.code == 6, "one chunk never renders"
    command("one.txt", "--voice", voice, "--output", "alone", "--workers", 1, "--format", "flac")
    told = ("num_chunks", "num_rendered", "num_refused", "num_failed", "num_left", "missing")
    alone = {key: report_of(tmp_path / "alone")[key] for key in told}
    assert alone["num_refused"] > 5
    assert len(alone["missing"]) == 1
    for name in "abc":
        folder = tmp_path / "out" / name
        assert digests(folder) == digests(tmp_path / "alone")
        assert {path.name for path in folder.rglob("takes/*/*.flac")} == {
            path.name for path in (tmp_path / "alone").rglob("takes/*/*.flac")
        }
        assert {key: report_of(folder)[key] for key in told} == alone


def test_three_voices_take_turns_in_one_place(command, tmp_path):
    """Found here: the second and the third voice took the place from each other for ever, and nothing was rendered."""
    for number, name in enumerate(NAMES):
        write_tone(tmp_path, f"{name}.yaml", slots=16, seconds_per_take=0.2 + number / 100)
    books = [f"{name}.txt, voice: {name}.yaml" for name in NAMES]
    ran = command(write_manifest(tmp_path, *books, defaults="{formats: flac}"), "--max-hours", 20 / 3600)
    assert ran.code == 0, ran.err


def test_a_voice_keeps_its_place_until_its_last_chunk_is_accepted(command, tmp_path):
    """The last take of the first book is refused: its next attempt must not wait for the whole second book."""
    first = write_tone(
        tmp_path, "first.yaml", "{match: That was book, do: clip, attempts: '0,1'}", seconds_per_take=0.1
    )
    second = write_tone(tmp_path, "second.yaml", seconds_per_take=0.05)
    books = (f"one.txt, voice: {first}", f"two.txt, voice: {second}")
    assert command(write_manifest(tmp_path, *books, defaults="{formats: flac}")).code == 0
    assert report_of(tmp_path / "output" / "one")["num_refused"] == 2
    [[end]] = rows(tmp_path / "output" / "one", "SELECT MAX(recorded_at) FROM outcomes")
    [[begin]] = rows(tmp_path / "output" / "two", "SELECT MIN(recorded_at) FROM outcomes")
    assert end < begin


def test_max_hours_stops_in_time_and_the_same_command_goes_on(command, tmp_path):
    voice = write_tone(tmp_path, "slow.yaml", seconds_per_take=0.15)
    job = write_manifest(tmp_path, defaults=f"{{voice: {voice}, formats: flac}}")
    deadline = time.time() + 1.5
    ran = command(job, "--max-hours", f"{1.5 / 3600:.6f}")
    assert ran.code == 7, ran.err
    ends = [rows(folder, "SELECT MAX(recorded_at) FROM outcomes")[0][0] for folder in (tmp_path / "output").glob("*/")]
    assert max(end for end in ends if end) < deadline + 0.7, "what was in flight ended in time, too"
    assert re.search(
        r"^Stopped in time, with [123] books? left\. Run the same command again to go on\.$", ran.err, re.M
    )
    assert re.search(r": [1-7] of 7 chunks left$", ran.out, re.MULTILINE)
    num_kept = sum(len([*(tmp_path / "output" / name).rglob("takes/*/*.flac")]) for name in NAMES)
    assert 0 < num_kept < 21
    assert json.loads((tmp_path / "output" / "job.report.json").read_text())["is_interrupted"] is False
    assert command(job).code == 0
    reused = [report_of(tmp_path / "output" / name)["num_reused"] for name in NAMES]
    assert sum(reused) == num_kept
    assert command(job, "--max-hours", 1).code == 0, "nothing is left to stop"


@pytest.mark.parametrize("where", ["flag", "manifest"])
def test_stop_at_stops_at_the_next_such_time(command, tmp_path, monkeypatch, where):
    """By a clock on which an hour is a minute's half."""
    began = time.time()

    class FastClock(Clock):
        def __init__(self, deadline: float | None) -> None:
            super().__init__(deadline, now=lambda: began + 120 * (time.time() - began))

    monkeypatch.setattr("pipeline.render.loop.Clock", FastClock)
    stop_at = (datetime.now() + timedelta(minutes=2)).strftime("%H:%M")
    voice = write_tone(tmp_path, "slow.yaml", seconds_per_take=0.2)
    keys = {"defaults": f"{{voice: {voice}, formats: flac}}"} | ({"stop_at": stop_at} if where == "manifest" else {})
    ran = command(write_manifest(tmp_path, **keys), *(["--stop-at", stop_at] if where == "flag" else []))
    assert ran.code == 7, ran.err
    assert "Stopped in time" in ran.err


def test_a_stop_before_the_first_book_renders_nothing(command, tmp_path):
    ran = command(write_manifest(tmp_path), "--max-hours", "0.0000001")
    assert ran.code == 7
    assert "3 books left" in ran.err
    assert [path.name for path in (tmp_path / "output").iterdir()] == ["job.report.json"]


@pytest.mark.parametrize(
    ("stop_at", "max_hours", "now", "end"),
    [
        (time_of_day(7), None, "2030-03-04 22:15:00", "2030-03-05 07:00:00"),
        (time_of_day(23, 30), None, "2030-03-04 22:15:00", "2030-03-04 23:30:00"),
        (time_of_day(7), None, "2030-03-04 07:00:00", "2030-03-05 07:00:00"),
        (time_of_day(7), None, "2030-12-31 07:00:01", "2031-01-01 07:00:00"),
        (None, 8.5, "2030-03-04 22:15:00", "2030-03-05 06:45:00"),
        (time_of_day(7), 2, "2030-03-04 22:15:00", "2030-03-05 00:15:00"),
        (time_of_day(23), 2, "2030-03-04 22:15:00", "2030-03-04 23:00:00"),
    ],
)
def test_the_next_such_time_or_the_hours_whichever_is_first(stop_at, max_hours, now, end):
    deadline = Job((), stop_at=stop_at, max_hours=max_hours).deadline(datetime.fromisoformat(now))
    assert datetime.fromtimestamp(deadline) == datetime.fromisoformat(end)


def test_without_a_time_there_is_no_deadline():
    assert Job(()).deadline(datetime.now()) is None
    assert not Clock(None, now=lambda: 1e12).is_stopping()


def test_the_clock_stops_early_enough_for_the_slowest_of_late():
    now = 1000.0
    clock = Clock(1100.0, now=lambda: now)
    assert not clock.is_stopping()
    clock.note_seconds(5.0)
    clock.note_seconds(30.0)
    clock.note_seconds(5.0)
    now = 1069.0
    assert not clock.is_stopping()
    now = 1070.0
    assert clock.is_stopping()
    for _ in range(200):
        clock.note_seconds(1.0)
    assert clock.is_stopping(), "it doesn't change its mind"
    assert not clock.is_interrupted


def test_the_slow_chunks_of_the_evening_are_forgotten_by_the_morning():
    clock = Clock(1100.0, now=lambda: 1090.0)
    clock.note_seconds(50.0)
    for _ in range(200):
        clock.note_seconds(1.0)
    assert not clock.is_stopping()


def test_a_signal_in_the_middle_keeps_what_is_done_and_says_what_is_left(command, tmp_path):
    voice = write_tone(tmp_path, "slow.yaml", slots=2, seconds_per_take=0.15)
    job = write_manifest(tmp_path, defaults=f"{{voice: {voice}, formats: flac}}")
    running = start(tmp_path, job)
    wait_for_take(tmp_path / "output" / "two")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert running.returncode == 130, err
    assert re.search(r"^Interrupted with [123] books? left\. Run the same command again to go on\.$", err, re.M)
    assert re.search(r"^three: 7 of 7 chunks left$|^two: [0-6] of 7 chunks left$|^two: all chunks", out, re.MULTILINE)
    assert "Traceback" not in err
    assert [rows(tmp_path / "output" / name, "SELECT COUNT(*) FROM in_flight") for name in ("one", "two")] == [
        [(0,)]
    ] * 2
    assert "being rendered" not in command("status", tmp_path / "output" / "two").out
    assert command(job).code == 0
    fresh = write_manifest(tmp_path, defaults=f"{{voice: {voice}, formats: flac}}", name="fresh", output="fresh")
    assert command(fresh).code == 0
    assert all_digests(tmp_path / "output") == all_digests(tmp_path / "fresh")
    twice = "SELECT key FROM outcomes WHERE kind = 'accepted' GROUP BY key HAVING COUNT(*) > 1"
    assert [rows(tmp_path / "output" / name, twice) for name in NAMES] == [[], [], []]


def test_a_plan_of_a_job_has_a_line_a_book_and_names_those_that_have_none(command, tmp_path):
    job = write_manifest(tmp_path, "one.txt", "two.txt, chapters: 9", "three.txt, chapters: 2")
    ran = command("plan", job)
    assert ran.code == 6
    lines = ran.out.splitlines()
    assert re.match(r"  one +\d+ +7  ", lines[1])
    assert re.search(r"two\.txt +can't be planned: There is no chapter 9", lines[2])
    assert re.match(r"  three +\d+ +3  ", lines[3])
    assert "3 books: " in lines[4]
    assert " 10 chunks" in lines[4]
    assert ran.err == f"1 of 3 books can't be planned: {tmp_path}/two.txt.\n"
    ran = command("plan", job, "--json")
    assert ran.code == 6
    one, two, three = map(json.loads, ran.out.splitlines())
    assert (one["source"], one["title"]) == (str(tmp_path / "one.txt"), "one")
    assert set(two) == {"source", "error"}
    assert sum(len(chapter["chunks"]) for chapter in three["chapters"]) == 3
    assert command("plan", write_manifest(tmp_path)).code == 0
    assert not (tmp_path / "output").exists(), "nothing is written"


def test_the_status_of_a_job_before_during_and_after(command, tmp_path):
    voice = write_tone(
        tmp_path, "slow.yaml", "{match: was lit at six, do: clip, attempts: '0'}", slots=2, seconds_per_take=0.4
    )
    job = write_manifest(tmp_path, "one.txt", "two.txt", defaults=f"{{voice: {voice}, formats: flac}}")
    before = command("status", job)
    assert before.code == 0
    assert before.out.count("not begun") == 2
    assert [one["status"] for one in json.loads(command("status", job, "--json").out)] == [None, None]
    running = start(tmp_path, job)
    wait_for_take(tmp_path / "output" / "two")
    during = command("status", job)
    one, two = (found["status"] for found in json.loads(command("status", job, "--json").out))
    running.communicate(timeout=20)
    assert running.returncode == 0
    assert re.search(
        r"^  two +\d of 7 +\d:\d\d:\d\d  \d left, 1 worker, \d+\.\d x real time, about 0:00:0\d to go", during.out, re.M
    )
    assert re.search(r"^  one .*1 take refused", during.out, re.MULTILINE)
    assert (two["num_replicas"], one["num_refused"], one["is_delivered"] or one["num_replicas"]) == (1, 1, True)
    assert two["holder"].startswith(f"process {running.pid} on ")
    after = command("status", job)
    assert len(re.findall(r" 7 of 7 .*  delivered", after.out)) == 2
    assert "2 of 2 books delivered, 2 begun; 14 chunks" in after.out
    assert "worker" not in after.out


def test_a_killed_run_is_nobodys_and_what_it_lost_is_counted(command, tmp_path):
    num_slots = 2
    voice = write_tone(tmp_path, "slow.yaml", slots=num_slots, seconds_per_take=0.2)
    job = write_manifest(tmp_path, "one.txt", "two.txt", defaults=f"{{voice: {voice}, formats: flac}}")
    running = start(tmp_path, job)
    try:
        wait_for_take(tmp_path / "output" / "two")
    finally:
        running.kill()
        running.communicate()
    assert (tmp_path / "output" / "two" / "holder.json").exists(), "it had no time to clear up"
    between = command("status", job).out
    assert not re.search("worker|real time|to go", between)
    assert re.search(r"^  two +[1-7] of 7 .* [0-6] left$", between, re.MULTILINE)
    num_kept = {name: len([*(tmp_path / "output" / name).rglob("takes/*/*.flac")]) for name in NAMES}
    assert command(job).code == 0
    num_lost = 0
    for name in ("one", "two"):
        folder, report = tmp_path / "output" / name, report_of(tmp_path / "output" / name)
        assert report["num_rendered"] + report["num_reused"] == report["num_chunks"] == 7
        assert 0 <= num_kept[name] - report["num_reused"] <= num_slots + 2, "bytes without a row"
        kinds = dict(rows(folder, "SELECT kind, COUNT(*) FROM outcomes GROUP BY kind"))
        assert kinds.pop("lost", 0) == report["num_again"]
        assert kinds == {"accepted": 7}, "each was rendered once else"
        num_lost += report["num_again"]
    assert 1 <= num_lost <= num_slots + 2
    assert command(job).code == 0
    assert report_of(tmp_path / "output" / "two")["num_again"] == 0, "they are counted once"


def test_a_speed_is_of_the_run_that_renders_now(command, tmp_path):
    """Found here: what the run before had rendered was divided by the seconds of this one."""
    voice = write_tone(tmp_path, "slow.yaml", "{match: never spoke, do: hang}", seconds_per_take=0.4)
    whole = SMALL_BOOK + "\n\n".join(f"This is paragraph number {n}, which nobody needs to hear." for n in range(30))
    (tmp_path / "one.txt").write_text(whole.replace("They never", "They always"))
    assert command("one.txt", "--voice", "tone", "--workers", 1, "--format", "flac").code == 0
    (tmp_path / "one.txt").write_text(SMALL_BOOK)
    running = start(tmp_path, "one.txt", "--voice", voice, "--workers", 1, "--format", "flac")
    try:
        wait_for(tmp_path / "output" / "one" / "holder.json")
        until = time.monotonic() + 20
        while not (found := json.loads(command("status", "output/one", "--json").out))["times_real_time"]:
            assert time.monotonic() < until
        assert found["holder"]
        time.sleep(1.5)
        speed = json.loads(command("status", "output/one", "--json").out)["times_real_time"]
    finally:
        running.kill()
        running.communicate()
    assert 0 < speed < 15, "a take of some 2 s each 0.4 s"


def test_a_book_with_something_left_to_do_is_not_called_delivered(command, tmp_path):
    """Found here: whatever was asked for since, an old report of a delivery was believed."""
    job = write_manifest(tmp_path, "one.txt, output: one")
    assert command(job).code == 0
    assert "1 of 1 book delivered" in command("status", job).out
    with closing(sqlite3.connect(tmp_path / "one" / "ledger.sqlite")) as ledger, ledger:
        ledger.execute(  # as a redo that was killed leaves it
            "INSERT INTO outcomes (key, attempt, kind, alone, message, findings, judge, recorded_at)"
            " VALUES (?, -1, 'redo', 0, '', '[]', '', 0)",
            (chunk_id(tmp_path / "one", "It rained"),),
        )
    assert "0 of 1 book delivered" in command("status", job).out
    assert command("redo", job).code == 0
    assert "1 of 1 book delivered" in command("status", job).out
    script = tmp_path / "one" / "script.json"  # as a run of an edited text leaves it that was killed at once
    script.write_text(script.read_text().replace(chunk_id(tmp_path / "one", "It rained"), "0" * 20))
    status = command("status", job).out
    assert "0 of 1 book delivered" in status
    assert "1 left" in status


def test_redo_of_a_chunk_finds_its_book_and_touches_no_other(command, tmp_path):
    job = write_manifest(tmp_path)
    assert command(job).code == 0
    before = all_digests(tmp_path / "output")
    wanted = chunk_id(tmp_path / "output" / "two", "candle was lit")
    ran = command("redo", job, "--chunk", wanted[:12], "--workers", 1)
    assert ran.code == 0, ran.err
    after = all_digests(tmp_path / "output")
    assert (after["one"], after["three"]) == (before["one"], before["three"])
    assert after["two"]["001.flac"] != before["two"]["001.flac"]
    assert "1 of 1 book delivered" in ran.out
    again = command("redo", job)
    assert again.code == 0
    assert "takes rendered" not in again.out


def test_redo_of_a_chunk_that_two_books_hold_or_none_is_told(command, tmp_path):
    job = write_manifest(tmp_path, "one.txt", "one.txt, output: again")
    nothing = command("redo", job, "--chunk", "abc")
    assert (nothing.code, nothing.err.count("\n")) == (2, 1)
    assert command(job).code == 0
    shared = chunk_id(tmp_path / "again", "lamp was lit")
    several = command("redo", job, "--chunk", shared)
    assert several.code == 2
    assert re.fullmatch(rf"Several chunks .*'{shared}'.*\.\n", several.err)
    for wanted in ("zzz", ""):
        ran = command("redo", job, "--chunk", wanted)
        assert ran.code == 2
        assert re.fullmatch(rf"No chunk .*'{wanted}'.*\.\n", ran.err)
    assert not rows(tmp_path / "again", "SELECT 1 FROM outcomes WHERE kind = 'redo'")


@pytest.mark.parametrize(
    ("flag", "value", "says"),
    [
        ("--voice", "tone", "as `voice:` for all books (below `defaults:`)"),
        ("--output", "out", "as `output:` for all books"),
        ("--format", "flac", "as `formats:` "),
        ("--seed", 0, "as `seed:` "),
        ("--chapters", "1", "as `chapters:` "),
        ("--config", "my.yaml", "as `profile:` "),
        ("--lexicon", "names.yaml", "as `lexicons:` "),
        ("--dtype", "auto", "engines.pocket.dtype"),
        ("--device", "cpu", "engines.pocket.device"),
        ("--eos-threshold", -4, "engines.pocket.eos_threshold"),
        ("--frames-after-eos", 3, "engines.pocket.frames_after_eos"),
    ],
)
def test_flags_of_one_book_are_the_manifests_to_say(command, tmp_path, flag, value, says):
    job = write_manifest(tmp_path)
    commands = [[job], ["plan", job]] if flag not in ("--output", "--format", "--device") else [[job]]
    for words in commands:
        ran = command(*words, flag, value)
        assert ran.code == 2
        assert re.fullmatch(rf"{flag} goes into .*{re.escape(says)}.*\.\n", ran.err)
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["--workers", "0"], 2),
        (["--workers", "many"], 2),
        (["--workers", ""], 2),
        (["--stop-at", "7 in the morning"], 2),
        (["--stop-at", "24:00"], 2),
        (["--stop-at", "07:60"], 2),
        (["--max-hours", "0"], 2),
        (["--max-hours", "-1"], 2),
        (["--max-hours", "inf"], 2),
        (["--max-hours", "nan"], 2),
        (["--max-hours", "1e300"], 2),
        (["--max-hours", "9999"], 2),
        (["--workers", "1", "--stop-at", "7:00", "--max-hours", "0.5"], 0),
        (["--workers", " AUTO "], 0),
    ],
)
def test_flags_of_a_run_are_allowed_and_checked(command, tmp_path, words, code):
    """Found here: --max-hours inf, nan and 1e300 were tracebacks."""
    job = write_manifest(tmp_path, "one.txt, output: there")
    (tmp_path / "one.txt").write_text("A book so short that a second worker isn't worth it.")
    ran = command(job, *words)
    assert ran.code == code, ran.err
    if code:
        assert re.fullmatch(rf"{words[0]} '{words[1]}' .*\.\n", ran.err)
        assert not (tmp_path / "there").exists()
    else:
        assert "1 of 1 book delivered" in ran.out


def test_a_submitted_job_must_write_where_it_stays(command, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")
    for words in (["one.txt", "--voice", "tone"], ["one.txt", "--voice", "tone", "--output", "out"]):
        ran = command(*words)
        assert ran.code == 2
        assert re.fullmatch(r"A submitted job .*--output.*\.\n", ran.err)
    for keys in ({}, {"output": "out"}):
        ran = command(write_manifest(tmp_path, **keys))
        assert ran.code == 4
        assert "output" in ran.err
    assert command("plan", "one.txt", "--voice", "tone").code == 0, "a plan writes nothing"
    assert {path.name for path in tmp_path.iterdir()} == {*(f"{name}.txt" for name in NAMES), "job.yaml"}


@pytest.fixture
def lines_alive(monkeypatch):
    """Every `Line` that has been made and not let go of."""
    alive: weakref.WeakSet[line.Line] = weakref.WeakSet()
    begin = line.Line.__init__

    def begin_and_note(self: line.Line, *words: Any) -> None:
        alive.add(self)
        begin(self, *words)

    monkeypatch.setattr(line.Line, "__init__", begin_and_note)
    return alive


NUM_TINY = 14


def write_tiny_books(folder: Path, **keys: object) -> Job:
    for number in range(NUM_TINY):
        (folder / f"tiny{number}.txt").write_text(f"Tiny book number {number} has one sentence.")
    return read_manifest(write_manifest(folder, *(f"tiny{number}.txt" for number in range(NUM_TINY)), **keys))


def test_a_long_job_holds_a_few_books_at_a_time(tmp_path, lines_alive, monkeypatch):
    """Found here: where stitching is slower than rendering, or there is nothing to render, all were opened at once."""
    most = 0

    def count_lines(*_: object) -> None:
        nonlocal most
        if len(lines_alive) > most:
            gc.collect()
            most = max(most, len(lines_alive))

    def stitch_slowly(*words: Any) -> int:
        time.sleep(0.1)
        return stitch_chapter(*words)

    monkeypatch.setattr("pipeline.master.chapters.stitch_chapter", stitch_slowly)
    monkeypatch.setattr("pipeline.run._MOST_FINISHING", 4)
    job = write_tiny_books(tmp_path)
    report = render_job(job, TellingClock(count_lines), count_lines, count_lines)
    assert len(report.books) == NUM_TINY
    assert 1 <= most <= 7
    gc.collect()
    assert not lines_alive
    (tmp_path / "other.yaml").write_text("master: {level_dbfs: -21}\n")
    job = write_tiny_books(tmp_path, defaults="{voice: tone, formats: flac, profile: other.yaml}")
    most = 0
    report = render_job(job, TellingClock(count_lines), count_lines, count_lines)
    assert sum(book.num_reused for book in report.books) == sum(book.num_chunks for book in report.books) >= NUM_TINY
    assert 1 <= most <= 7, "all takes are there, and the chapters are made anew"


class TellingClock(Clock):
    """Tells whenever the loop asks it."""

    def __init__(self, tell: Callable[[], None]) -> None:
        super().__init__()
        self._tell = tell

    def is_stopping(self) -> bool:
        self._tell()
        return super().is_stopping()


def test_books_that_fail_are_let_go_of_too(tmp_path, lines_alive):
    """Found here: each error's traceback held its book until the end of the job."""
    job = write_tiny_books(tmp_path)
    for book in job.books:
        assert book.output is not None
        (book.output / "chapters").mkdir(parents=True)
    report = render_job(job, Clock(), lambda progress: None, lambda message: None)
    assert len(report.failures) == NUM_TINY
    gc.collect()
    assert not lines_alive
