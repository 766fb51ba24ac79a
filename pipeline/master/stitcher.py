"""From accepted takes to a chapter: trimmed, faded, gapped, one gain, streamed to one FLAC.

The gain is pydub's; trims, fades and gaps are numpy's, to the sample.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
import soundfile

from pipeline.errors import OutputError
from pipeline.master.deliver import clean_text
from pipeline.render.pcm import Pcm, apply_gain, measure_level
from pipeline.render.store import StoredTake
from pipeline.render.takes import Level
from pipeline.whole_file import cannot_write, whole_file

_FORM = 1  # raised when stitching changes, so that old chapters are made anew


@dataclass(frozen=True, slots=True)
class MasterRules:
    """From the profile (`master`): milliseconds and dBFS."""

    fade_in_ms: int
    fade_out_ms: int
    keep_before_ms: int
    keep_after_ms: int
    trim_below_dbfs: float
    level_dbfs: float
    peak_dbfs: float


@dataclass(frozen=True, slots=True)
class Part:
    """A take and the silence after it in milliseconds; without a take only the silence is heard."""

    take: StoredTake | None
    gap_ms: int


@dataclass(frozen=True, slots=True)
class ChapterTags:
    title: str
    book: str
    authors: str
    narrator: str
    number: int


def book_gain_db(levels: Sequence[Level], rules: MasterRules) -> float:
    """One gain for a book, from the levels of its first takes, in half decibels.

    It brings the median take to `level_dbfs` RMS, and no peak among them above `peak_dbfs`.
    """
    if not levels:
        return 0.0
    wanted = rules.level_dbfs - median(level.rms_dbfs for level in levels)
    headroom = rules.peak_dbfs - max(level.peak_dbfs for level in levels)
    return float(np.floor(2 * min(wanted, headroom)) / 2)


def chapter_digest(
    parts: Sequence[Part], gain_db: float, rules: MasterRules, tags: ChapterTags, sample_rate: int
) -> str:
    """Hash of all that a chapter's file is made from."""
    heard = [(part.take.sha256 if part.take else "", part.gap_ms) for part in parts]
    made_of: list[Any] = [_FORM, heard, gain_db, asdict(rules), asdict(tags), sample_rate]
    return hashlib.sha256(json.dumps(made_of).encode()).hexdigest()


def stitch_chapter(
    parts: Sequence[Part],
    gain_db: float,
    rules: MasterRules,
    tags: ChapterTags,
    sample_rate: int,
    path: Path,
) -> int:
    """Write a chapter's FLAC, take by take, and return its length in samples.

    The file appears under its name only when it is whole. Raises `OutputError`.
    """
    num_samples = 0
    try:
        with (
            whole_file(path) as partial,
            soundfile.SoundFile(partial, "w", sample_rate, 1, "PCM_16", format="FLAC") as file,
        ):
            _write_tags(file, tags)
            for pcm in _stream(parts, gain_db, rules, sample_rate):
                file.write(pcm)
                num_samples += len(pcm)
    except soundfile.LibsndfileError as error:
        raise cannot_write(path, error) from error
    return num_samples


def _write_tags(file: soundfile.SoundFile, tags: ChapterTags) -> None:
    named = {
        "title": tags.title,
        "album": tags.book,
        "artist": tags.authors,
        "comment": f"read by {tags.narrator}",
        "tracknumber": str(tags.number),
    }
    for name, text in named.items():
        if cleaned := clean_text(text):  # libsndfile refuses an empty tag
            setattr(file, name, cleaned)


def join_takes(takes: Sequence[StoredTake], gap_ms: int, rules: MasterRules) -> npt.NDArray[np.float32]:
    """The takes of a split chunk as one, at their own level: float samples, full scale at 1.0."""
    rate = takes[0].sample_rate
    parts = [Part(take, gap_ms if i + 1 < len(takes) else 0) for i, take in enumerate(takes)]
    pcm = np.concatenate(list(_stream(parts, 0.0, rules, rate)))
    return pcm.astype(np.float32) / np.float32(32767)


def _stream(parts: Sequence[Part], gain_db: float, rules: MasterRules, sample_rate: int) -> Iterator[Pcm]:
    for part in parts:
        if part.take is not None:
            yield _finish_take(part.take, gain_db, rules)
        yield np.zeros(_samples(part.gap_ms, sample_rate), np.int16)


def _finish_take(take: StoredTake, gain_db: float, rules: MasterRules) -> Pcm:
    """A take's speech with the gain and both fades: `[num_samples]`."""
    try:
        pcm, rate = soundfile.read(take.path, dtype="int16")
    except soundfile.LibsndfileError as error:
        raise OutputError(f"{take.path} can't be read ({error}): run the same command again.") from None
    level = measure_level(pcm, rate, rules.trim_below_dbfs)  # by today's rules, whatever the judge's were
    start = _samples(max(level.lead_ms - rules.keep_before_ms, 0), rate)
    end = len(pcm) - _samples(max(level.trail_ms - rules.keep_after_ms, 0), rate)
    # A take louder than the book's first ones is turned down rather than clipped.
    gain = min(gain_db, -0.1 - level.peak_dbfs)
    loud = apply_gain(pcm[start:end], gain, rate)
    rise = min(_samples(rules.fade_in_ms, rate), len(loud))
    fall = min(_samples(rules.fade_out_ms, rate), len(loud))
    left = max(len(loud) - rise - fall, 0)  # between the fades
    ends = np.delete(loud, slice(rise, rise + left)).astype(np.float64)
    ends[:rise] *= np.arange(rise) / max(rise, 1)
    ends[len(ends) - fall :] *= 0.5 + 0.5 * np.cos(np.pi * (np.arange(fall) + 1) / max(fall, 1))
    faded = np.rint(ends).astype(np.int16)
    return np.concatenate([faded[:rise], loud[rise : rise + left], faded[rise:]])


def _samples(milliseconds: int, sample_rate: int) -> int:
    return milliseconds * sample_rate // 1000
