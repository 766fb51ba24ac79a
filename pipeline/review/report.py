"""What a run did, and what it could not do: for the terminal, and as `report.json` in the output folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
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
    num_left: int
    is_stopped: bool
    """A signal came before the book was packed."""
    audio_seconds: float
    """Length of the delivered audio; of the accepted takes while the book isn't finished."""
    rendered_seconds: float
    wall_seconds: float
    missing: tuple[Missing, ...]
    findings: tuple[str, ...]

    @property
    def times_real_time(self) -> float:
        """Seconds of audio rendered in this run for each second that it took."""
        return self.rendered_seconds / self.wall_seconds if self.wall_seconds else 0.0


@dataclass(frozen=True, slots=True)
class ChapterStatus:
    index: int
    title: str
    num_done: int
    num_chunks: int
    audio_seconds: float


@dataclass(frozen=True, slots=True)
class Status:
    """How far a book is, as its folder tells from outside."""

    title: str
    holder: str
    chapters: tuple[ChapterStatus, ...]
    missing: tuple[Missing, ...]
    """As the last finished run listed them."""


def write_report(report: Report, path: Path) -> None:
    text = json.dumps(asdict(report) | {"times_real_time": round(report.times_real_time, 2)}, indent=1)
    write_whole(path, (text + "\n").encode())


def report_as_lines(report: Report) -> Iterator[str]:
    """For the terminal: files first, since they are what was asked for."""
    yield from report.files
    done = [f"{clock_time(report.audio_seconds)} of audio in {count(report.num_chapters, 'chapter')}"]
    if report.num_rendered:
        done.append(f"{count(report.num_rendered, 'take')} rendered at {report.times_real_time:.1f} x real time")
    if report.num_reused:
        done.append(f"{report.num_reused} of {count(report.num_chunks, 'chunk')} already there")
    if report.num_refused:
        done.append(f"{count(report.num_refused, 'take')} refused")
    yield "; ".join(done) + "."
    yield from report.findings
    yield from missing_as_lines(report.missing)


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


def status_as_lines(status: Status) -> Iterator[str]:
    """A line a chapter, then the sum."""
    yield status.title + (f" (being rendered by {status.holder})" if status.holder else "")
    for chapter in status.chapters:
        yield (
            f"  {chapter.index:>3}  {chapter.title[:44]:<44}  {chapter.num_done:>5} of {chapter.num_chunks:<5}"
            f"  {clock_time(chapter.audio_seconds)}"
        )
    done = sum(chapter.num_done for chapter in status.chapters)
    planned = sum(chapter.num_chunks for chapter in status.chapters)
    seconds = sum(chapter.audio_seconds for chapter in status.chapters)
    left = "all done" if done == planned else f"{planned - done} left"
    yield f"  {done} of {planned} chunks, {clock_time(seconds)} of speech; {left}"
    yield from missing_as_lines(status.missing)
