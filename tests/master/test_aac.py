"""Encoding one chapter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from pipeline.errors import OutputError
from pipeline.master.aac import encode_chapter

RATE = 24_000


def write_flac(folder: Path, num_samples: int, channels: int = 1) -> Path:
    path = folder / "a.flac"
    noise = np.random.default_rng(0).normal(0, 0.05, (num_samples, channels))
    soundfile.write(path, noise, RATE, format="FLAC", subtype="PCM_16")
    return path


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_chapter_decodes_to_what_it_was(tmp_path: Path) -> None:
    time = np.arange(RATE) / RATE
    sound = 0.3 * np.sin(2 * np.pi * 220 * time) * np.sin(2 * np.pi * 2 * time)
    soundfile.write(tmp_path / "a.flac", sound, RATE)
    encode_chapter(tmp_path / "a.flac", tmp_path / "a.m4a")
    with av.open(tmp_path / "a.m4a") as container:
        heard = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
    assert len(heard) >= RATE
    assert np.abs(heard[:RATE] - sound).max() < 0.02


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    flac = write_flac(tmp_path, 50_000)
    for name in ("1.m4a", "2.m4a"):
        encode_chapter(flac, tmp_path / name)
    assert (tmp_path / "1.m4a").read_bytes() == (tmp_path / "2.m4a").read_bytes()


def damage(sound: bytes) -> bytes:
    middle = len(sound) // 2
    return sound[:middle] + bytes(64) + sound[middle + 64 :]


@pytest.mark.parametrize(
    "spoil",
    [damage, lambda sound: sound[: len(sound) // 2], lambda sound: b"not a FLAC at all", lambda sound: b""],
    ids=["damaged", "cut short", "not a FLAC", "empty"],
)
def test_a_spoilt_flac_leaves_nothing(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    flac = write_flac(tmp_path, 200_000)
    flac.write_bytes(spoil(flac.read_bytes()))
    with pytest.raises(OutputError, match=r"a\.flac can't be read.*delete it"):
        encode_chapter(flac, tmp_path / "a.m4a")
    assert files(tmp_path) == ["a.flac"]


def test_a_chapter_must_be_mono(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="2 channels"):
        encode_chapter(write_flac(tmp_path, 99, channels=2), tmp_path / "a.m4a")
    assert files(tmp_path) == ["a.flac"]
