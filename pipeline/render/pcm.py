"""16-bit audio: levels, silence and gain by pydub, FLAC by soundfile. pydub lives here alone."""

from __future__ import annotations

import io
import math
import warnings

import numpy as np
import numpy.typing as npt
import soundfile

from pipeline.engines.base import Samples
from pipeline.render.takes import Level

with warnings.catch_warnings():
    # As it is imported, pydub warns of a missing ffmpeg, which nothing here needs, and of its audioop,
    # which audioop-lts brings back from Python 3.13 on.
    warnings.simplefilter("ignore")
    from pydub import AudioSegment
    from pydub.silence import detect_leading_silence
    from pydub.utils import ratio_to_db

Pcm = npt.NDArray[np.int16]
"""Mono audio, shape `[num_samples]`, full scale at 32767."""

SILENCE_DBFS = -100.0
"""Stands for minus infinity, which JSON can't hold."""


def to_pcm16(samples: Samples) -> Pcm:
    """Round to 16 bits: `[num_samples]`, full scale at 32767; what is no number becomes silence."""
    if not np.isfinite(samples).all():
        samples = np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)
    scaled = samples * 32767.0
    np.clip(np.rint(scaled, out=scaled), -32768, 32767, out=scaled)
    return scaled.astype(np.int16)


def measure_level(pcm: Pcm, sample_rate: int, trim_below_dbfs: float) -> Level:
    """Level of the speech between the silences at either end, which are found in steps of 10 ms."""
    segment = _segment(pcm, sample_rate)
    lead = detect_leading_silence(segment, silence_threshold=trim_below_dbfs, chunk_size=10)
    end = _segment(pcm[-sample_rate:], sample_rate)  # of a second, which is nearly always enough
    trail = detect_leading_silence(end.reverse(), silence_threshold=trim_below_dbfs, chunk_size=10)
    if trail == len(end):
        trail = detect_leading_silence(segment.reverse(), silence_threshold=trim_below_dbfs, chunk_size=10)
    speech = segment[lead : len(segment) - trail]
    return Level(
        rms_dbfs=_finite(ratio_to_db(speech.rms, speech.max_possible_amplitude)),
        peak_dbfs=_finite(speech.max_dBFS),
        lead_ms=min(lead, len(segment)),
        trail_ms=min(trail, len(segment)),
    )


def apply_gain(pcm: Pcm, gain_db: float, sample_rate: int) -> Pcm:
    """Louder or softer by `gain_db`; what would pass full scale is cut off there."""
    return np.frombuffer(_segment(pcm, sample_rate).apply_gain(gain_db).raw_data, np.int16)


def _segment(pcm: Pcm, sample_rate: int) -> AudioSegment:
    return AudioSegment(pcm.tobytes(), sample_width=2, frame_rate=sample_rate, channels=1)


def _finite(dbfs: float) -> float:
    return round(dbfs, 3) if math.isfinite(dbfs) else SILENCE_DBFS


def encode_flac(pcm: Pcm, sample_rate: int) -> bytes:
    """A mono 16-bit FLAC file."""
    file = io.BytesIO()
    soundfile.write(file, pcm, sample_rate, format="FLAC", subtype="PCM_16")
    return file.getvalue()
