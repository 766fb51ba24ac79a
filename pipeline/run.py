"""A job from start to end: its books in turn, one pool of replicas for all, and a report of each."""

from __future__ import annotations

import math
import time
import traceback
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from pipeline.beside import Beside
from pipeline.engines import registry
from pipeline.engines.base import num_cores
from pipeline.errors import OutputError, RenderBookError
from pipeline.job import BookJob, Job
from pipeline.line import Line, OnMessage, OnProgress
from pipeline.plan import Plan, check_trace, choose_voice, make_plan
from pipeline.profile import EngineProfile, read_profile
from pipeline.render.loop import Book, Clock, Loop
from pipeline.render.pools import Host, LocalHost, Pools
from pipeline.render.replica import Occupancy
from pipeline.review.report import Failure, JobReport, Report, write_job_report
from pipeline.staff import Staff, choose_staff

_MOST_FINISHING = 32
"""Books that are rendered and not yet packed, before no further one is opened: a megabyte and three open files each."""

_STITCHERS_NICENESS = 15
"""As of Ray's own workers. Where cores are short, the driver goes first: what waits for it is hardware, what waits for
the stitchers a chapter."""


def render_job(job: Job, clock: Clock, on_progress: OnProgress, on_message: OnMessage) -> JobReport:
    """Render the books of a job, each from wherever an earlier run got to. One that fails doesn't fail the others."""
    started = time.monotonic()
    only = _plan_of_only_book(job)
    staff = _choose_staff(job, only)
    pools = Pools(lambda: _open_host(staff, on_message), on_message)
    num_stitchers = max(1, num_cores() // 8) if staff.needs_ray else 0
    beside = Beside(num_stitchers, pools.wake, _STITCHERS_NICENESS)
    planning = Beside(1 if staff.needs_ray else 0)

    def open_line(book: BookJob) -> Line:
        plan = only or planning.submit(make_plan, book).result()
        return Line(plan, staff, beside, on_progress, on_message)

    shelf = Shelf(job, open_line, pools, on_message)
    loop = Loop(shelf, pools, clock)
    try:
        loop.run()
        beside.close(at_once=True)  # all is done by now, unless the run was stopped
        report = shelf.report(time.monotonic() - started, clock.is_interrupted)
        if job.folder is not None:
            try:
                write_job_report(report, job.folder / f"{job.name}.report.json")
            except OutputError as error:
                on_message(str(error))  # what is said at the terminal is said all the same
        return report
    finally:
        planning.close(at_once=True)
        beside.close(at_once=True)
        shelf.abandon()
        pools.close()


def _plan_of_only_book(job: Job) -> Plan | None:
    """What the only book of a job needs; None where there are more, or where it fails as a book of a manifest does."""
    if len(job.books) > 1:
        return None
    try:
        return make_plan(job.books[0])
    except RenderBookError:
        if job.name:
            return None
        raise


def _choose_staff(job: Job, only: Plan | None) -> Staff:
    """As many replicas as this machine carries, and as the only book, if there is but one, is worth."""
    engines: dict[str, EngineProfile] = {}
    checked: set[str] = set()
    for book in job.books:
        profile = read_profile(book.config, book.settings)
        voice = choose_voice(book.voice, profile)
        # Of every book, before any work: nobody is there at night.
        check_trace(book, voice, profile)
        engines.setdefault(voice.engine, profile.engine(voice.engine))
        if voice.digest not in checked:
            checked.add(voice.digest)
            registry.check_model(voice)
    num_chunks = len(only.job.redo) or len(only.script.chunks) if only else math.inf
    return choose_staff(job, engines, num_chunks)


def _open_host(staff: Staff, on_message: OnMessage) -> Host:
    """One worker renders in this process; more are Ray actors."""
    if not staff.needs_ray:
        return LocalHost()
    from pipeline.render.cluster import RayHost

    num_cpus = sum(share.num_cpus * (share.replicas or 0) for share in staff.shares.values())
    return RayHost(staff.address, num_cpus, staff.num_gpus, on_message)


class Shelf:
    """The books of a job, opened one ahead of the hardware by a thread of its own, and closed when they are packed."""

    def __init__(self, job: Job, open_line: Callable[[BookJob], Line], pools: Pools, on_message: OnMessage) -> None:
        self._job = job
        self._open_line = open_line
        self._pools = pools
        self._say = on_message
        self._waiting = deque(sorted(job.books, key=lambda book: -book.priority))
        self._lines: list[Line] = []
        self._planner = ThreadPoolExecutor(1, thread_name_prefix="planner")
        self._planned: tuple[BookJob, Future[Line]] | None = None
        self._reports: list[Report] = []
        self._failures: list[Failure] = []
        self._occupancy = Occupancy()

    def books(self) -> tuple[Line, ...]:
        return tuple(self._lines)

    def tend(self, *, is_stopping: bool) -> bool:
        """Finish what is rendered, open what is due; whether anything is left to tend."""
        if is_stopping:
            return False
        if any(line.backlog.num_waiting for line in self._lines):
            self._occupancy = self._pools.occupancy()
        for line in self.books():
            try:
                line.note_replicas(self._pools.num_replicas())
                is_finished = line.tend()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is noted as that book's failure
                self.fail(line, error)
            else:
                if is_finished:
                    self._close(line)
        self._take_planned()
        if self._planned is None and self._waiting and self._is_hungry():
            book = self._waiting.popleft()
            self._planned = book, self._planner.submit(self._open_line, book)
            self._planned[1].add_done_callback(lambda _: self._pools.wake())
        return bool(self._lines or self._planned or self._waiting)

    def fail(self, book: Book, error: Exception) -> None:
        line = next(line for line in self._lines if line is book)
        self._lines.remove(line)
        line.abandon()
        self._note_failure(line.plan.job, error)

    def report(self, wall_seconds: float, is_interrupted: bool) -> JobReport:
        """Close all books, finished or not."""
        for line in self.books():
            self._close(line)
        num_left = len(self._waiting) + (self._planned is not None)
        return JobReport(
            name=self._job.name,
            books=tuple(self._reports),
            failures=tuple(self._failures),
            num_not_begun=num_left,
            is_interrupted=is_interrupted,
            slots_filled=self._slots_filled(),
            wall_seconds=wall_seconds,
        )

    def abandon(self) -> None:
        """Let go of every folder, also of a book that is just being opened."""
        self._planner.shutdown(wait=True)
        if self._planned and not self._planned[1].exception():
            self._lines.append(self._planned[1].result())
        for line in self._lines:
            line.abandon()

    def _close(self, line: Line) -> None:
        self._lines.remove(line)
        try:
            self._reports.append(line.close(self._slots_filled()))
        except Exception as error:  # noqa: BLE001 - as above
            self._note_failure(line.plan.job, error)

    def _take_planned(self) -> None:
        if self._planned is None or not self._planned[1].done():
            return
        book, opened = self._planned
        self._planned = None
        try:
            self._lines.append(opened.result())
        except Exception as error:  # noqa: BLE001 - as above
            self._note_failure(book, error)

    def _is_hungry(self) -> bool:
        """Whether the next book should be opened: fewer than two have something to ask for, or little.

        Not while many wait to be stitched and packed: an open book is held in memory.
        """
        if sum(not line.backlog.is_open() for line in self._lines) >= _MOST_FINISHING:
            return False
        waiting = [line.backlog.num_waiting for line in self._lines if line.backlog.num_waiting]
        return len(waiting) < 2 or sum(waiting) < 2 * self._pools.num_slots()

    def _note_failure(self, book: BookJob, error: Exception) -> None:
        if not isinstance(error, RenderBookError):
            if len(self._job.books) == 1:
                raise error
            # A fault of ours in one book must not cost the others their night.
            self._say("".join(traceback.format_exception(error)))
        link: BaseException | None = error
        while link is not None:  # without tracebacks, whose frames hold the whole book
            link.__traceback__ = None
            link = link.__cause__ or link.__context__
        self._failures.append(Failure(str(book.source), error))
        if self._job.name:
            self._say(f"{book.source}: {error}")

    def _slots_filled(self) -> float | None:
        return self._occupancy.filled / self._occupancy.offered if self._occupancy.offered else None
