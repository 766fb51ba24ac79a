"""A judge refuses what no listener should hear, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.engines.base import RawTake
from pipeline.profile import read_profile
from pipeline.render.judge import judge_take
from pipeline.render.pcm import apply_gain, measure_level, to_pcm16

RATE = 24_000
RULES = read_profile(None).judge_rules()
TEXT = "A sentence of about forty letters, no more."


def tone(seconds: float, loud: float = 0.2) -> np.ndarray:
    return (loud * np.sin(np.arange(int(seconds * RATE)) * 0.05)).astype(np.float32)


def judge(samples: np.ndarray, stop: str = "eos", text: str = TEXT):
    return judge_take(RawTake("k", 0, stop, samples, 10), text, RATE, RULES)


def with_nan() -> np.ndarray:
    samples = tone(2.5)
    samples[100] = np.nan
    return samples


@pytest.mark.parametrize(
    ("samples", "stop", "finding"),
    [
        (with_nan(), "eos", "a-001"),
        (tone(2.5), "budget", "a-002"),
        (np.clip(tone(2.5, 8), -1, 1), "eos", "a-003"),
        (tone(2.5, 0.0), "eos", "a-004"),
        (tone(0.0), "eos", "a-004"),
        (tone(0.1), "eos", "a-005"),
        (tone(40.0), "eos", "a-006"),
    ],
)
def test_refused(samples, stop, finding):
    take = judge(samples, stop)
    assert take.is_refused
    assert [f.id for f in take.findings] == [finding]
    assert take.flac == b""


@pytest.mark.parametrize("seconds", [1.0, 2.5, 8.0])
def test_accepted(seconds):
    take = judge(tone(seconds))
    assert (take.is_refused, take.findings) == (False, ())
    assert take.flac.startswith(b"fLaC")


def test_digits_are_read_as_words():
    assert not judge(tone(9.0), text="1111111111111").is_refused


def test_silence_at_either_end_is_measured_in_steps_of_10_ms():
    silence = np.zeros(RATE // 2, np.float32)
    level = measure_level(to_pcm16(np.concatenate([silence, tone(1.0), silence[: RATE // 4]])), RATE, -50)
    assert (level.lead_ms, level.trail_ms) == (500, 250)
    assert level.peak_dbfs == pytest.approx(20 * np.log10(0.2), abs=0.01)
    assert level.rms_dbfs == pytest.approx(20 * np.log10(0.2 / np.sqrt(2)), abs=0.05)


def test_gain_is_in_decibels():
    assert apply_gain(np.array([1000, -1000], np.int16), 20.0, RATE).tolist() == [10000, -10000]
