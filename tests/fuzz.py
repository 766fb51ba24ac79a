"""Fuzzing: broken books and random texts are planned, or refused in one sentence, and soon.

    python -m tests.fuzz --count 10000 --seed 0 --workers 2 --seconds 3600

Each case runs in a worker process that has no network and may write nowhere but its scratch folder. A fault is any
exception but `RenderBookError`, a message that is no sentence, a case of more than 5 s of a processor, a file opened
elsewhere, or a worker that dies or hangs. The input of a fault is kept with its kind and seed; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import heapq
import multiprocessing
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from pipeline.errors import RenderBookError
from pipeline.job import BookJob
from pipeline.plan import make_plan
from tests.broken import make_input, seed_books

ROOT = Path(__file__).parent.parent
MAX_CPU_SECONDS = 5.0
HANGS_SECONDS = 60.0
_KINDS = ("epub", "text")
_WRITES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "shutil.copyfile")
_FORBIDDEN = ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.system", "os.exec")


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a case: `plan`, the name of an error, or `fault` with what is wrong."""

    kind: str
    seed: int
    outcome: str
    seconds: float = 0.0
    """Of a processor."""
    fault: str = ""


class _Watch:
    """Notes what a case opens or starts that it shouldn't. Audit hooks stay for good, so there is one a process."""

    def __init__(self) -> None:
        self.scratch = ""
        self.seen: list[str] = []
        known = {str(ROOT), sys.prefix, sys.base_prefix, "/usr", "/dev/null", "/proc/self"}
        self._readable = tuple(known | {os.path.realpath(path) for path in known})
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.scratch:
            return
        if event in _FORBIDDEN:
            self.seen.append(f"{event} {arguments[:1]}")
        elif event in _WRITES or event == "open":
            path = str(os.fsdecode(arguments[0])) if isinstance(arguments[0], str | bytes | os.PathLike) else ""
            mode, flags = (str(arguments[1] or ""), arguments[2]) if event == "open" else ("w", 0)
            is_write = any(letter in mode for letter in "wax+") or bool(
                isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
            )
            allowed = (self.scratch,) if is_write else (self.scratch, *self._readable)
            if path and not os.path.abspath(path).startswith(allowed):  # noqa: PTH100
                self.seen.append(f"{event} {path} {mode}")


_watch: _Watch | None = None


@contextmanager
def _watched(scratch: Path) -> Iterator[list[str]]:
    global _watch
    _watch = _watch or _Watch()
    _watch.scratch, _watch.seen = str(scratch), []
    try:
        yield _watch.seen
    finally:
        _watch.scratch = ""


def run_case(kind: str, seed: int, scratch: Path) -> Result:
    """Plan one broken input in an empty folder."""
    suffix, data = make_input(kind, seed)
    path = scratch / f"book{suffix}"
    path.write_bytes(data)
    notes = random.Random(seed).choice(("skip", "inline", "end"))
    start = time.process_time()
    outcome, fault = "plan", ""
    with _watched(scratch) as seen:
        try:
            make_plan(BookJob(path, voice="tone", notes=notes))
        except RenderBookError as error:
            outcome = type(error).__name__
            message = str(error)
            if not message.endswith(".") or "\n" in message or not message[:1].strip() or len(message) > 2000:
                fault = f"no sentence: {message!r}"
        except Exception:  # noqa: BLE001
            fault = traceback.format_exc()
    seconds = time.process_time() - start
    if seconds > MAX_CPU_SECONDS:
        fault = fault or f"took {seconds:.1f} s"
    others = [str(other) for other in scratch.rglob("*") if other != path]
    if seen or others:
        fault = fault or f"touched {seen + others}"
    path.unlink()
    return Result(kind, seed, "fault" if fault else outcome, seconds, fault)


def _work(pipe: Connection) -> None:
    sys.dont_write_bytecode = True
    seed_books()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        os.chdir(folder)
        while case := pipe.recv():
            pipe.send(run_case(*case, Path(folder)))


@dataclass(slots=True)
class _Worker:
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    case: tuple[str, int] | None = None
    since: float = 0.0

    @classmethod
    def start(cls) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def give(self, case: tuple[str, int]) -> None:
        self.case, self.since = case, time.monotonic()
        self.pipe.send(case)

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run_cases(cases: Iterator[tuple[str, int]], num_workers: int) -> Iterator[Result]:
    """The result of each case, as they come. A worker that hangs or dies is a fault of its case, and is replaced."""
    workers = [_Worker.start() for _ in range(num_workers)]
    try:
        busy = [worker for worker in workers if _give_next(worker, cases)]
        while busy:
            ready = wait([worker.pipe for worker in busy], timeout=1.0)
            for worker in list(busy):
                assert worker.case is not None
                result = None
                if worker.pipe in ready:
                    try:
                        result = worker.pipe.recv()
                    except EOFError:
                        result = Result(*worker.case, "fault", fault="the worker died")
                elif time.monotonic() - worker.since > HANGS_SECONDS:
                    result = Result(*worker.case, "fault", HANGS_SECONDS, "hangs")
                if result is None:
                    continue
                yield result
                if result.fault in ("the worker died", "hangs"):
                    worker.stop()
                    fresh = _Worker.start()
                    worker.process, worker.pipe = fresh.process, fresh.pipe
                if not _give_next(worker, cases):
                    busy.remove(worker)
    finally:
        for worker in workers:
            worker.stop()


def _give_next(worker: _Worker, cases: Iterator[tuple[str, int]]) -> bool:
    case = next(cases, None)
    if case is not None:
        worker.give(case)
    return case is not None


def _cases(count: int, first: int, seconds: float, kinds: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    end = time.monotonic() + seconds
    for number in range(first, first + count):
        for kind in kinds:
            if time.monotonic() > end:
                return
            yield kind, number


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=0, help="of the first case")
    parser.add_argument("--seconds", type=float, default=24 * 3600.0, help="stop after these")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--kind", choices=_KINDS, help="only this one")
    parser.add_argument("--keep", type=Path, default=ROOT / "output" / "fuzz", help="folder for inputs of faults")
    said = parser.parse_args()
    kinds = (said.kind,) if said.kind else _KINDS
    counts: Counter[tuple[str, str]] = Counter()
    slowest: list[tuple[float, str, int]] = []
    start = time.monotonic()
    for result in run_cases(_cases(said.count, said.seed, said.seconds, kinds), said.workers):
        counts[result.kind, result.outcome] += 1
        heapq.heappush(slowest, (result.seconds, result.kind, result.seed))
        slowest = heapq.nlargest(5, slowest)
        if result.fault:
            said.keep.mkdir(parents=True, exist_ok=True)
            suffix, data = make_input(result.kind, result.seed)
            kept = said.keep / f"{result.kind}-{result.seed}{suffix}"
            kept.write_bytes(data)
            print(f"{result.kind} {result.seed}: {result.fault.strip()}\n  kept as {kept}", flush=True)
    for (kind, outcome), count in sorted(counts.items()):
        print(f"{kind:5} {outcome:18} {count:7}")
    print("slowest: " + ", ".join(f"{kind} {seed} {seconds:.2f} s" for seconds, kind, seed in sorted(slowest)[::-1]))
    print(f"{sum(counts.values())} cases in {time.monotonic() - start:.0f} s")
    return int(any(outcome == "fault" for _, outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
