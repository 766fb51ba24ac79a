"""Jobs: what is to be rendered, of which books, where and until when."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from pathlib import Path

from pipeline.errors import UsageError
from pipeline.manuscript.reading import Notes
from pipeline.voices import DEFAULT_VOICE

FORMATS = ("m4b", "flac")


@dataclass(frozen=True, slots=True)
class BookJob:
    """One book of a job. `output` is None for the default, `output/<title>`; `chapters` for all kept ones."""

    source: Path
    voice: str = DEFAULT_VOICE
    output: Path | None = None
    chapters: tuple[int, ...] | None = None
    formats: tuple[str, ...] | None = None
    config: Path | None = None
    lexicons: tuple[Path, ...] = ()
    """A word that stands in several is said as the last of them says."""
    notes: Notes = "skip"
    keep: tuple[str, ...] = ()
    """Chapters that are read though `plan` would leave them out: by number, title, or what they are."""
    drop: tuple[str, ...] = ()
    as_book: bool = False
    """Whether a folder of manuscripts is one book."""
    trace_eos: bool = False
    """Whether each take that is rendered and accepted gets its end-of-speech trace beside it."""
    seed: int = 0
    priority: int = 0
    """Books of a higher one are rendered first; among equals, in the job's order."""
    redo: tuple[str, ...] = ()
    """Ids (or their beginnings) of chunks whose next attempt is wanted."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What flags say in place of the profile, by dotted keys."""


@dataclass(frozen=True, slots=True)
class Workers:
    """How many replicas an engine has, and what each takes of its machine; None for what suits (`auto`)."""

    replicas: int | None = None
    num_cpus: float | None = None
    num_gpus: float | None = None
    """May be a fraction: replicas then share a device."""


@dataclass(frozen=True, slots=True)
class Job:
    """Books that share the hardware, where they are rendered, and until when."""

    books: tuple[BookJob, ...]
    name: str = ""
    """Of the manifest; empty for a book given on the command line."""
    folder: Path | None = None
    """Where a manifest's books lie by default, and the report of the job."""
    workers: Mapping[str, Workers] = field(default_factory=dict)
    """By engine; under the empty name, those of every engine that isn't named."""
    ray: str = ""
    """The address of a Ray cluster to join, or `auto`; empty for this machine."""
    stop_at: time | None = None
    """Local time of day; the next such time after the start."""
    max_hours: float | None = None

    def deadline(self, now: datetime) -> float | None:
        """When a run that starts now must have stopped: in seconds since the epoch, None for never."""
        ends = [now + timedelta(hours=self.max_hours)] if self.max_hours is not None else []
        if self.stop_at is not None:
            today = datetime.combine(now.date(), self.stop_at)
            ends.append(today if today > now else today + timedelta(days=1))
        return min(ends).timestamp() if ends else None

    def workers_of(self, engine: str) -> Workers:
        return self.workers.get(engine) or self.workers.get("") or Workers()


def parse_chapters(text: str, flag: str = "--chapters ") -> tuple[int, ...]:
    """`1-3,7` as (1, 2, 3, 7). Raises `UsageError`, whose message begins with the flag."""
    chosen: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part)
        if match is None:
            raise UsageError(f"{flag}{text!r} isn't a list of chapters: write it as 1-3,7.")
        first, last = int(match[1]), int(match[2] or match[1])
        if first < 1 or last < first:
            raise UsageError(f"{flag}{text!r}: {part.strip()} holds no chapter: they count from 1 upwards.")
        chosen.update(range(first, last + 1))
    return tuple(sorted(chosen))


def parse_stop_at(text: str) -> time:
    """`07:00` as a time of day. Raises `UsageError`."""
    if not re.fullmatch(r"([01]?\d|2[0-3]):[0-5]\d", text.strip()):
        raise UsageError(f"--stop-at {text!r} isn't a time of day: write it as 07:00.")
    hour, minute = text.split(":")
    return time(int(hour), int(minute))


def parse_max_hours(text: str) -> float:
    """`8.5` as hours, of a year at most. Raises `UsageError`."""
    if not re.fullmatch(r"\d{1,4}(\.\d*)?|\.\d+", text.strip()) or not 0 < float(text) <= 24 * 366:
        raise UsageError(f"--max-hours {text!r} isn't a number of hours, such as 8.5.")
    return float(text)


def with_replicas(workers: Mapping[str, Workers], replicas: int | None) -> dict[str, Workers]:
    """So many replicas of every engine, each with what it had of a machine."""
    return {name: replace(one, replicas=replicas) for name, one in ({"": Workers()} | dict(workers)).items()}


def parse_workers(text: str) -> int | None:
    """`4` as a number of replicas, `auto` as None. Raises `UsageError`."""
    if text.strip().lower() == "auto":
        return None
    if not re.fullmatch(r"[1-9]\d{0,3}", text.strip()):
        raise UsageError(f"--workers {text!r} must be a number from 1 upwards, or auto.")
    return int(text)


def runs_submitted() -> bool:
    """Whether this program was started by `ray job submit`, in a folder that Ray removes."""
    return "RAY_JOB_CONFIG_JSON_ENV_VAR" in os.environ


def parse_formats(formats: Sequence[str], flag: str = "--format") -> tuple[str, ...]:
    """The formats to deliver, each once. Raises `UsageError` for one that doesn't exist."""
    names = tuple(dict.fromkeys(name.strip().lower() for name in formats if name.strip()))
    for name in names:
        if name not in FORMATS:
            raise UsageError(f"The format {name!r} can't be made (yet): choose from {', '.join(FORMATS)}.")
    if not names:
        raise UsageError(f"{flag} names no format: choose from {', '.join(FORMATS)}.")
    return names
