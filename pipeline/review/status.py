"""How far a book or a job is, as its folders tell from outside, also while it renders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.review.report import Missing, clock_time, count, missing_as_lines


@dataclass(frozen=True, slots=True)
class ChapterStatus:
    index: int
    title: str
    num_done: int
    num_chunks: int
    audio_seconds: float


@dataclass(frozen=True, slots=True)
class Status:
    """One book. `times_real_time` and `num_replicas` are of the run that is rendering it; 0 where none is."""

    title: str
    holder: str
    num_replicas: int
    times_real_time: float
    num_refused: int
    is_delivered: bool
    """Whether the last finished run wrote its files, and nothing is asked for since."""
    chapters: tuple[ChapterStatus, ...]
    missing: tuple[Missing, ...]
    """As the last finished run listed them."""

    @property
    def num_done(self) -> int:
        return sum(chapter.num_done for chapter in self.chapters)

    @property
    def num_chunks(self) -> int:
        return sum(chapter.num_chunks for chapter in self.chapters)

    @property
    def audio_seconds(self) -> float:
        return sum(chapter.audio_seconds for chapter in self.chapters)

    @property
    def seconds_left(self) -> float | None:
        """Until the rest is rendered, if it goes on as it does; None while that can't be told."""
        if not self.times_real_time or not self.num_done:
            return None
        left = self.num_chunks - self.num_done - len(self.missing)
        return left * self.audio_seconds / self.num_done / self.times_real_time


def status_as_dict(status: Status) -> dict[str, Any]:
    """For programs: the fields, and what is summed up of them."""
    sums = ("num_done", "num_chunks", "audio_seconds", "seconds_left")
    return {name: getattr(status, name) for name in sums} | asdict(status)


def status_as_lines(status: Status) -> Iterator[str]:
    """A line a chapter, then the sum."""
    yield status.title + (f" (being rendered by {status.holder})" if status.holder else "")
    for chapter in status.chapters:
        yield (
            f"  {chapter.index:>3}  {chapter.title[:44]:<44}  {chapter.num_done:>5} of {chapter.num_chunks:<5}"
            f"  {clock_time(chapter.audio_seconds)}"
        )
    left = status.num_chunks - status.num_done
    said = f"{left} left" if left else "all done"
    yield f"  {status.num_done} of {status.num_chunks} chunks, {clock_time(status.audio_seconds)} of speech; {said}"
    if speed := ", ".join(_speed(status)):
        yield f"  {speed}"
    yield from missing_as_lines(status.missing)


def job_as_lines(books: Sequence[tuple[str, Status | str]]) -> Iterator[str]:
    """A line a book, then the sum; for a book without a status, why there is none."""
    for source, status in books:
        if isinstance(status, str):
            yield f"  {source[-44:]:<44}  {status}"
            continue
        findings = [f"{len(status.missing)} missing"] if status.missing else []
        state = "delivered" if status.is_delivered else f"{status.num_chunks - status.num_done} left"
        more = ", ".join([state, *_speed(status), *findings])
        yield (
            f"  {status.title[:44]:<44}  {status.num_done:>5} of {status.num_chunks:<5}"
            f"  {clock_time(status.audio_seconds):>8}  {more}"
        )
    begun = [status for _, status in books if isinstance(status, Status)]
    seconds = sum(status.audio_seconds for status in begun)
    num_delivered = sum(status.is_delivered for status in begun)
    yield (
        f"  {num_delivered} of {count(len(books), 'book')} delivered, {len(begun)} begun; "
        f"{sum(status.num_done for status in begun)} chunks, {clock_time(seconds)} of speech"
    )
    for status in begun:
        if status.missing:
            yield status.title
            yield from missing_as_lines(status.missing)


def _speed(status: Status) -> Iterator[str]:
    if status.holder:
        yield count(status.num_replicas, "worker")
    if status.times_real_time:
        yield f"{status.times_real_time:.1f} x real time"
    if status.seconds_left:
        yield f"about {clock_time(status.seconds_left)} to go"
    if status.num_refused:
        yield f"{count(status.num_refused, 'take')} refused"
