"""Is this take what was asked for? Runs beside the engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.engines.base import RawTake
from pipeline.render.pcm import Pcm, encode_flac, measure_level, to_pcm16
from pipeline.render.takes import Finding, Level, Take


@dataclass(frozen=True, slots=True)
class JudgeRules:
    """Bounds outside which no speech lies, from the profile (`judge`)."""

    silent_below_dbfs: float
    trim_below_dbfs: float
    max_clipped_share: float
    min_seconds_per_letter: float
    max_seconds_per_letter: float
    max_extra_seconds: float


def judge_take(raw: RawTake, text: str, sample_rate: int, rules: JudgeRules) -> Take:
    """Judge a raw take against the prepared text it should say, and encode it unless it is refused."""
    pcm = to_pcm16(raw.samples)
    level = measure_level(pcm, sample_rate, rules.trim_below_dbfs)
    return _take(raw, pcm, level, sample_rate, tuple(_find_faults(raw, text, sample_rate, level, rules)))


def make_take(raw: RawTake, sample_rate: int, rules: JudgeRules, findings: tuple[Finding, ...]) -> Take:
    """Encode a take that was judged before, such as one put together from accepted parts."""
    pcm = to_pcm16(raw.samples)
    return _take(raw, pcm, measure_level(pcm, sample_rate, rules.trim_below_dbfs), sample_rate, findings)


def _take(raw: RawTake, pcm: Pcm, level: Level, sample_rate: int, findings: tuple[Finding, ...]) -> Take:
    refused = any(finding.grade == "refuse" for finding in findings)
    return Take(
        key=raw.key,
        attempt=raw.attempt,
        stop=raw.stop,
        num_frames=raw.num_frames,
        num_samples=len(pcm),
        sample_rate=sample_rate,
        level=level,
        findings=findings,
        flac=b"" if refused else encode_flac(pcm, sample_rate),
        trace=None if refused else raw.trace,
    )


def _find_faults(raw: RawTake, text: str, sample_rate: int, level: Level, rules: JudgeRules) -> Iterator[Finding]:
    if not np.isfinite(raw.samples).all():
        yield Finding("a-001", "holds samples that are not numbers", "refuse")
    if raw.stop == "budget":
        yield Finding("a-002", f"no end of speech within its budget of {raw.num_frames} frames", "refuse")
    clipped = np.count_nonzero(np.abs(raw.samples) >= 0.999) / max(len(raw.samples), 1)
    if clipped > rules.max_clipped_share:
        yield Finding("a-003", f"clipped in {clipped:.2%} of its samples", "refuse")
    if level.rms_dbfs < rules.silent_below_dbfs:
        yield Finding("a-004", f"silent: {level.rms_dbfs:.0f} dBFS", "refuse")
        return
    # Its length against what its letters need; a digit is read as a word of about four letters.
    speech = len(raw.samples) / sample_rate - (level.lead_ms + level.trail_ms) / 1000
    num_letters = sum(4 if char.isdigit() else 1 for char in text if char.isalnum())
    said = f"{speech:.1f} s for {num_letters} letters"
    if speech < num_letters * rules.min_seconds_per_letter:
        yield Finding("a-005", f"far too short: {said}", "refuse")
    if speech > num_letters * rules.max_seconds_per_letter + rules.max_extra_seconds:
        yield Finding("a-006", f"far too long: {said}", "refuse")
