"""What a run did, and what it could not do: for the terminal, and as `report.json` in the output folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pipeline.whole_file import write_whole


@dataclass(frozen=True, slots=True)
class Missing:
    """A chunk that is not in the audio, with its text and the reason."""

    id: str
    chapter: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """One run of one book. `num_rendered` counts this run's takes, `num_reused` chunks found on disk."""

    title: str
    folder: str
    files: tuple[str, ...]
    num_chapters: int
    num_chunks: int
    num_rendered: int
    num_reused: int
    num_refused: int
    num_failed: int
    num_again: int
    """Renderings that were lost with a worker, a machine or a killed run, and asked for again."""
    num_left: int
    is_stopped: bool
    """A signal came before the book was packed."""
    audio_seconds: float
    """Length of the delivered audio; of the accepted takes while the book isn't finished."""
    rendered_seconds: float
    wall_seconds: float
    slots_filled: float | None
    """Of the time that replicas had slots, until nothing was left to ask for; None where that wasn't measured."""
    missing: tuple[Missing, ...]
    findings: tuple[str, ...]

    @property
    def times_real_time(self) -> float:
        """Seconds of audio rendered in this run for each second that it took."""
        return self.rendered_seconds / self.wall_seconds if self.wall_seconds else 0.0


@dataclass(frozen=True, slots=True)
class Failure:
    """A book of which nothing more could be done, and why."""

    source: str
    error: Exception


@dataclass(frozen=True, slots=True)
class JobReport:
    """One run of a job. `num_not_begun` counts books that a stop came before."""

    name: str
    books: tuple[Report, ...]
    failures: tuple[Failure, ...]
    num_not_begun: int
    is_interrupted: bool
    slots_filled: float | None
    wall_seconds: float

    @property
    def num_books(self) -> int:
        return len(self.books) + len(self.failures) + self.num_not_begun

    @property
    def is_stopped(self) -> bool:
        """Whether work is left, though none of it has failed."""
        return bool(self.num_not_begun) or any(book.is_stopped for book in self.books)


def write_report(report: Report, path: Path) -> None:
    text = json.dumps(asdict(report) | {"times_real_time": round(report.times_real_time, 2)}, indent=1)
    write_whole(path, (text + "\n").encode())


def report_as_lines(report: Report) -> Iterator[str]:
    """For the terminal: files first, since they are what was asked for."""
    yield from report.files
    done = [f"{clock_time(report.audio_seconds)} of audio in {count(report.num_chapters, 'chapter')}"]
    if report.num_rendered:
        done.append(f"{count(report.num_rendered, 'take')} rendered at {report.times_real_time:.1f} x real time")
    if report.num_again:
        done.append(f"{count(report.num_again, 'rendering')} lost and done again")
    if report.num_reused:
        done.append(f"{report.num_reused} of {count(report.num_chunks, 'chunk')} already there")
    if report.num_refused:
        done.append(f"{count(report.num_refused, 'take')} refused")
    yield "; ".join(done) + "."
    yield from report.findings
    yield from missing_as_lines(report.missing)


def job_report_as_lines(report: JobReport) -> Iterator[str]:
    """What a run did: of a manifest, book by book and then the sum."""
    for book in report.books:
        if report.name and book.is_stopped:
            yield f"{book.title}: {left_as_text(book)}"
        else:
            yield from report_as_lines(book)
    for failure in report.failures:
        yield f"Failed: {failure.source}: {failure.error}"
    if report.name:
        seconds = sum(book.rendered_seconds for book in report.books)
        speed = seconds / report.wall_seconds if report.wall_seconds else 0.0
        num_done = sum(not book.is_stopped for book in report.books)
        rendered = f", {clock_time(seconds)} rendered at {speed:.1f} x real time" if seconds else ""
        yield f"{report.name}: {num_done} of {count(report.num_books, 'book')} delivered{rendered}."
    if report.slots_filled is not None:
        yield f"Slots {report.slots_filled:.0%} full until nothing was left to ask for."


def left_as_text(book: Report) -> str:
    """What a stop came before."""
    if not book.num_left:
        return "all chunks rendered, not all files made"
    return f"{book.num_left} of {count(book.num_chunks, 'chunk')} left"


def write_job_report(report: JobReport, path: Path) -> None:
    failures = [{"source": failure.source, "error": str(failure.error)} for failure in report.failures]
    fields = asdict(replace(report, failures=())) | {"failures": failures}
    write_whole(path, (json.dumps(fields, indent=1) + "\n").encode())


def missing_as_lines(missing: Sequence[Missing]) -> Iterator[str]:
    if missing:
        yield f"Missing from the audio, since it could not be rendered: {count(len(missing), 'chunk')}."
    for chunk in missing:
        yield f"  chapter {chunk.chapter}, {chunk.id}: {chunk.reason}"
        yield f"    {chunk.text if len(chunk.text) <= 400 else chunk.text[:399] + '…'}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def clock_time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
