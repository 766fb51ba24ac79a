"""A recording of a narrator, of any audio format, as the model must be given it."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np

from pipeline.engines.base import Samples
from pipeline.errors import VoiceError

MAX_SECONDS, MIN_SECONDS = 30.0, 1.0
"""More of a voice makes every chunk slower and none better; less of it is no voice."""

_FRAME_SECONDS, _FLOOR_DB = 0.02, 35.0
_FADE_SECONDS, _PAUSE_SECONDS = 0.02, 0.08


def read_recording(path: Path, sample_rate: int) -> tuple[Samples, float]:
    """The first half minute as mono samples that end in a pause, and how long the recording is in seconds.

    Raises `VoiceError` for what is no recording, has no sound, or is too short.
    """
    import av

    if not path.is_file():
        raise VoiceError(f"There is no recording {path}: check the path.")
    wanted = int(MAX_SECONDS * sample_rate)
    parts, num_samples = [], 0
    try:
        with av.open(str(path)) as container:
            length = (container.duration or 0) / av.time_base
            resampler = av.AudioResampler(format="flt", layout="mono", rate=sample_rate)
            for frame in chain(container.decode(audio=0), [None]):
                for part in resampler.resample(frame):
                    parts.append(part.to_ndarray()[0])
                    num_samples += parts[-1].size
                if num_samples >= wanted:
                    break
    except (av.FFmpegError, IndexError) as error:
        raise VoiceError(
            f"{path} holds no audio that can be read ({error}): give a recording such as a .wav."
        ) from None
    samples = np.concatenate(parts).astype(np.float32) if parts else np.zeros(0, np.float32)
    seconds = max(length, num_samples / sample_rate)
    if num_samples < MIN_SECONDS * sample_rate:
        raise VoiceError(
            f"{path} is {num_samples / sample_rate:.1f} s long: a voice needs at least {MIN_SECONDS:.0f} s, better ten."
        )
    if not np.isfinite(samples).all() or np.abs(samples[:wanted]).max() < 1e-3:
        raise VoiceError(f"{path} is silent in its first {MAX_SECONDS:.0f} s: give one that begins with speech.")
    return end_on_pause(samples[:wanted], sample_rate), seconds


def end_on_pause(samples: Samples, sample_rate: int) -> Samples:
    """Cut the silence at the end, fade out and append a pause of 80 ms, as upstream does (pocket-tts 4.0.1).

    A prompt that stops in mid-speech is gone on with at the start of every chunk; one that ends on a long silence
    delays it.
    """
    frame = int(_FRAME_SECONDS * sample_rate)
    num_frames = len(samples) // frame
    level = np.sqrt(np.square(samples[: num_frames * frame]).reshape(num_frames, frame).mean(1))
    level_db = 20 * np.log10(level + 1e-12)
    end = (int(np.flatnonzero(level_db > level_db.max() - _FLOOR_DB)[-1]) + 1) * frame
    speech = samples[:end].copy()
    fade = min(int(_FADE_SECONDS * sample_rate), end)
    speech[end - fade :] *= np.linspace(1, 0, fade, dtype=np.float32)
    return np.concatenate([speech, np.zeros(int(_PAUSE_SECONDS * sample_rate), np.float32)])
