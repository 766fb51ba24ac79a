"""What one driver carries: a job of 50 books, 20,000 chunks of 6 s, on two Ray workers; the command as a process.

    python benchmarks/bench_scale.py [--books N] [--chunks N] [--only driver|stop|whole|stitcher]

- driver: the workers answer at a set speed, with takes of tone that they made and encoded before the first was asked
  for. So the machine's cores are the driver's, Ray's and the stitcher's, as where replicas have machines of their own.
- stop: the same job, and Ctrl-C (SIGINT to the whole process group) in its middle.
- whole: a fifth of the job with the tone as it is; sine, judge and FLAC take their share of this machine.
- stitcher: chapters of speech-shaped noise (`bench_master.py`) by one process that has a core for itself.

Chapters are delivered as FLAC, so that encoding AAC doesn't compete; what it costs, the last part says. Takes a second
are counted by the ledgers' own times, from the first commit to the last, and for the middle half of the job. CPU ms are
user and system time of each kind of process in that half, by /proc. The driver's memory (VmRSS) is read once a second;
it is flat if the median of the last quarter is at most a tenth above that of the second. What others took of this
machine meanwhile is said, since it counts against us. Exits with 1 where a bound isn't met. Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parent.parent
HERE = Path(__file__).parent

MIN_TAKES_A_SECOND = 300
MAX_DRIVER_MB = 600
MAX_GROWTH = 1.1
MAX_STOP_SECONDS = 5.0

OFFERED = 450
"""Takes a second that both workers together answer at most."""
SLOTS = 64
"""Of each worker: a take is 0.28 s under way. With 16, it was 71 ms, less than any model takes for six seconds of
speech; then what is on its way between worker and driver leaves slots empty, and 320 takes a second come, not 360.
"""
TOKENS_A_CHUNK = 37
"""36 words and a full stop: 74 frames of 80 ms, 5.9 s. One chunk in 50 is a chapter's heading, which is shorter."""
CHUNKS_A_CHAPTER = 50
NUM_READY = 50
TICKS = os.sysconf("SC_CLK_TCK")


def open_ready(voice: Any, hardware: Any) -> Any:
    """In a worker, in place of `registry.open_engine`: a tone whose takes are there before they are asked for."""
    from pipeline.engines import tone
    from pipeline.engines.base import RawTake, Request
    from pipeline.profile import read_profile
    from pipeline.render import replica
    from pipeline.render.judge import judge_take
    from pipeline.render.takes import Take

    rules, text = read_profile(None).judge_rules(), "abcde " * (TOKENS_A_CHUNK - 1) + "."
    engine = tone.open_engine(voice, hardware)
    requests = [Request("", text, 0, number, 2 * TOKENS_A_CHUNK) for number in range(NUM_READY)]
    ready = [judge_take(engine._render(one), text, tone.SAMPLE_RATE, rules) for one in requests]
    nothing = engine._render(requests[0]).samples[:0]

    class Ready(tone.ToneEngine):
        def _render(self, request: Request) -> RawTake:
            return RawTake(request.key, request.attempt, "eos", nothing, 0)

    def hand_over(raw: RawTake, *_: Any) -> Take:
        return replace(ready[hash(raw.key) % NUM_READY], key=raw.key, attempt=raw.attempt)

    replica.judge_take = hand_over
    return Ready(engine._options)


def drive(manifest: Path) -> None:
    """The command with ready takes, in this process."""
    import bench_scale  # by its name, so that a worker finds it

    from pipeline.cli import main as command
    from pipeline.engines import registry

    registry.open_engine = bench_scale.open_ready
    command([str(manifest)])


@dataclass(slots=True)
class Watch:
    """A command and all its descendants, once a second: CPU seconds by process, and the command's memory in MB."""

    pid: int
    at: list[float] = field(default_factory=list)
    mb: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)
    """CPU seconds of the whole machine."""
    cpu: list[dict[int, float]] = field(default_factory=list)
    kinds: dict[int, str] = field(default_factory=dict)

    def sample(self) -> None:
        parents, spent = {}, {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            parents[int(folder.name)], spent[int(folder.name)] = int(stat[1]), (int(stat[11]) + int(stat[12])) / TICKS
        family, before = {self.pid, *self.kinds}, 0
        while before != len(family):
            before = len(family)
            family |= {pid for pid, parent in parents.items() if parent in family}
        for pid in family & spent.keys():
            self.kinds[pid] = "driver" if pid == self.pid else _kind(pid, self.kinds.get(pid, "Ray"))
        user, nice, system, _, _, irq, softirq = (int(n) for n in Path("/proc/stat").read_text().split()[1:8])
        self.at.append(time.time())
        self.busy.append((user + nice + system + irq + softirq) / TICKS)
        self.cpu.append((self.cpu[-1] if self.cpu else {}) | {pid: spent[pid] for pid in family & spent.keys()})
        self.mb.append(_resident_mb(self.pid) or (self.mb[-1] if self.mb else 0.0))

    def nearest(self, at: float) -> int:
        return min(bisect_left(self.at, at), len(self.at) - 1)

    def spent(self, first: int, last: int) -> Counter[str]:
        """CPU seconds between two samples, by kind of process; `others` are those that aren't the command's."""
        spent: Counter[str] = Counter()
        for pid, seconds in self.cpu[last].items():
            spent[self.kinds[pid]] += seconds - self.cpu[first].get(pid, 0.0)
        spent["others"] = max(0.0, self.busy[last] - self.busy[first] - spent.total())
        return spent


def _kind(pid: int, before: str) -> str:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return before
    if not command:
        return before
    return "replicas" if "_ReplicaActor" in command else "stitchers" if "spawn_main" in command else "Ray"


def _resident_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


def write_job(folder: Path, num_books: int, num_chunks: int, offered: float) -> Path:
    """A manifest of text files whose sentences are a chunk each."""
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghilmnoprstu", k=rng.randint(3, 8))) for _ in range(2000)]
    options = f"{{slots: {SLOTS}, seconds_per_take: {2 * SLOTS / offered}}}" if offered else "{}"
    (folder / "tone.yaml").write_text(f"engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions: {options}\n")
    manifest = ["defaults: {voice: tone.yaml, formats: flac}", "workers: 2", "books:"]
    for number in range(num_books):
        blocks = [
            " ".join(rng.choices(words, k=TOKENS_A_CHUNK - 1)).capitalize() + "."
            if chunk % CHUNKS_A_CHAPTER
            else f"Chapter {chunk // CHUNKS_A_CHAPTER + 1}"
            for chunk in range(num_chunks)
        ]
        (folder / f"book-{number:02}.txt").write_text("\n\n".join(blocks), encoding="utf-8")
        manifest.append(f"  - source: book-{number:02}.txt")
    path = folder / "job.yaml"
    path.write_text("\n".join(manifest) + "\n", encoding="utf-8")
    return path


def start(manifest: Path, *, ready: bool) -> subprocess.Popen[bytes]:
    words = [str(HERE / "bench_scale.py"), "--drive"] if ready else ["-m", "pipeline.cli"]
    paths = os.pathsep.join([str(ROOT), str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])])
    with manifest.with_suffix(".log").open("ab") as log:  # a process group of its own, as a terminal's command has
        return subprocess.Popen(
            [sys.executable, *words, str(manifest)],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": paths}, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip


def commits(manifest: Path) -> list[float]:
    """When each take of the job was committed."""
    times: list[float] = []
    for ledger in manifest.parent.glob("output/*/ledger.sqlite"):
        with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True, timeout=30)) as db:
            times += [at for (at,) in db.execute("SELECT recorded_at FROM outcomes WHERE kind = 'accepted'")]
    return sorted(times)


def bench_job(manifest: Path, num_chunks: int, *, ready: bool) -> bool:
    """Run a job to its end and print what it took; whether all bounds are met."""
    process = start(manifest, ready=ready)
    began, watch = time.time(), Watch(process.pid)
    while process.poll() is None:
        watch.sample()
        time.sleep(1.0)
    ended = time.time()
    if process.returncode:
        print(manifest.with_suffix(".log").read_text()[-3000:])
        print(f"the job ended with {process.returncode}")
        return False
    times = commits(manifest)
    report = json.loads((manifest.parent / "output" / "job.report.json").read_text())
    audio = sum(book["audio_seconds"] for book in report["books"])
    speed = (len(times) - 1) / (times[-1] - times[0])
    first, last = watch.nearest(times[len(times) // 4]), watch.nearest(times[3 * len(times) // 4])
    num_middle = bisect_left(times, watch.at[last]) - bisect_left(times, watch.at[first])
    seconds = watch.at[last] - watch.at[first]
    spent = watch.spent(first, last)
    mb = [mb for at, mb in zip(watch.at, watch.mb, strict=True) if times[0] <= at <= times[-1]]
    growth = median(mb[3 * len(mb) // 4 :]) / median(mb[len(mb) // 4 : len(mb) // 2 + 1])
    bound = f"   (at least {MIN_TAKES_A_SECOND})" if ready else ""
    print(f"{'driver' if ready else 'whole':<16} {len(times):8,} takes, {audio / 3600:.1f} h of audio; "
          f"stitched {ended - times[-1]:.0f} s after the last")  # fmt: skip
    print(f"committed        {speed:8.0f} takes a second{bound}; in the middle {num_middle / seconds:.0f}")
    print(f"all              {audio / (ended - began):8.0f} x real time, from the command's start to its end")
    for kind in ("driver", "stitchers", "replicas", "Ray"):
        print(f"CPU of {kind:<9} {1000 * spent[kind] / num_middle:8.2f} ms a take")
    print(f"CPU of others    {spent['others'] / seconds:8.2f} cores")
    print(f"memory           {max(mb):8.0f} MB at most       (at most {MAX_DRIVER_MB})")
    print(f"last quarter     {growth:8.2f} x the second one  (at most {MAX_GROWTH})", flush=True)
    if len(times) != num_chunks:
        print(f"{len(times)} takes and not {num_chunks}")
    is_fast = not ready or speed >= MIN_TAKES_A_SECOND
    return is_fast and max(mb) <= MAX_DRIVER_MB and growth <= MAX_GROWTH and len(times) == num_chunks


def bench_stop(manifest: Path, num_chunks: int) -> bool:
    """Ctrl-C in the middle of the job."""
    process = start(manifest, ready=True)
    while process.poll() is None and len(commits(manifest)) < num_chunks / 2:
        time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    at = time.monotonic()
    process.wait()
    seconds, num_kept = time.monotonic() - at, len(commits(manifest))
    print(f"Ctrl-C           {seconds:8.2f} s until it is gone   (at most {MAX_STOP_SECONDS:.0f}); exit code "
          f"{process.returncode}, {num_kept:,} of {num_chunks:,} takes", flush=True)  # fmt: skip
    return seconds <= MAX_STOP_SECONDS and process.returncode == 130 and num_kept < num_chunks


def bench_stitcher(folder: Path, hours: float) -> None:
    from bench_master import GAP_MS, RATE, make_takes

    from pipeline.master.aac import encode_chapter
    from pipeline.master.stitcher import ChapterTags, Part, stitch_chapter
    from pipeline.profile import read_profile

    takes, rules = make_takes(folder), read_profile(None).master.rules()
    num_samples, flac, aac = 0, 0.0, 0.0
    for number in range(max(1, round(hours * 2))):
        parts = [Part(takes[(number + i) % len(takes)], GAP_MS) for i in range(300)]
        path = folder / f"{number:03}.flac"
        at = time.process_time()
        num_samples += stitch_chapter(parts, 3.0, rules, ChapterTags("C", "B", "A", "n", number), RATE, path)
        flac, at = flac + time.process_time() - at, time.process_time()
        encode_chapter(path, path.with_suffix(".m4a"))
        aac += time.process_time() - at
    print(f"stitcher         {num_samples / RATE / flac:8.0f} x real time a process, FLAC alone")
    print(f"                 {num_samples / RATE / (flac + aac):8.0f} x real time a process, FLAC and AAC", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="What one driver carries.")
    parser.add_argument("--books", type=int, default=50)
    parser.add_argument("--chunks", type=int, default=400, help="of each book")
    parser.add_argument("--hours", type=float, default=1.0, help="of audio for the stitcher alone")
    parser.add_argument("--only", choices=("driver", "stop", "whole", "stitcher"), help="one part")
    parser.add_argument("--drive", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.drive:
        drive(args.drive)
    is_good = True
    for part in (args.only,) if args.only else ("driver", "stop", "whole", "stitcher"):
        with tempfile.TemporaryDirectory(prefix="bench-scale-") as name:
            folder = Path(name)
            num_books = max(2, args.books // 5) if part == "whole" else args.books
            num_chunks = num_books * args.chunks
            if part == "driver":
                is_good &= bench_job(write_job(folder, num_books, args.chunks, OFFERED), num_chunks, ready=True)
            elif part == "stop":
                is_good &= bench_stop(write_job(folder, num_books, args.chunks, OFFERED), num_chunks)
            elif part == "whole":
                is_good &= bench_job(write_job(folder, num_books, args.chunks, 0), num_chunks, ready=False)
            else:
                bench_stitcher(folder, args.hours)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
