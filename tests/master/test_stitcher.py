"""A chapter, to the sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipeline.errors import OutputError
from pipeline.master.stitcher import ChapterTags, Part, book_gain_db, join_takes, stitch_chapter
from pipeline.profile import read_profile
from pipeline.render.pcm import encode_flac, measure_level
from pipeline.render.store import StoredTake
from pipeline.render.takes import Level

RATE = 24_000
RULES = read_profile(None).master.rules()
TAGS = ChapterTags("A “title”\nof two lines", "Book", "", "joe", 7)


def take(folder: Path, name: str, pcm: np.ndarray) -> StoredTake:
    path = folder / f"{name}.flac"
    path.write_bytes(encode_flac(pcm.astype(np.int16), RATE))
    return StoredTake(name, 0, path, name, len(pcm), RATE, measure_level(pcm.astype(np.int16), RATE, -50))


def square(seconds: float, height: int = 8000) -> np.ndarray:
    return np.full(int(seconds * RATE), height, np.int16)


def test_fades_gaps_and_length_to_the_sample(tmp_path):
    parts = [Part(take(tmp_path, "a", square(0.5)), 250), Part(take(tmp_path, "b", square(0.25)), 2000)]
    path = tmp_path / "001.flac"
    length = stitch_chapter(parts, 0.0, RULES, TAGS, RATE, path)
    pcm, rate = soundfile.read(path, dtype="int16")
    assert (rate, len(pcm)) == (RATE, length)
    assert length == RATE // 2 + RATE // 4 + RATE // 4 + 2 * RATE
    first, gap = pcm[: RATE // 2], pcm[RATE // 2 : RATE // 2 + RATE // 4]
    assert not gap.any()
    rise, fall = 5 * RATE // 1000, 40 * RATE // 1000
    assert first[0] == 0
    assert first[rise] == 8000
    assert (np.diff(first[:rise].astype(int)) > 0).all()
    assert first[-fall - 1] == 8000
    assert first[-1] == 0
    assert first[-fall // 2] == pytest.approx(4000, abs=20), "half way down a cosine is half"


def test_silence_is_trimmed_but_for_what_is_kept(tmp_path):
    silence = np.zeros(RATE, np.int16)
    parts = [Part(take(tmp_path, "a", np.concatenate([silence, square(0.5), silence])), 0)]
    length = stitch_chapter(parts, 0.0, RULES, TAGS, RATE, tmp_path / "1.flac")
    assert length == RATE // 2 + (RULES.keep_before_ms + RULES.keep_after_ms) * RATE // 1000


def test_a_missing_take_leaves_its_gap(tmp_path):
    assert stitch_chapter([Part(None, 600)], 0.0, RULES, TAGS, RATE, tmp_path / "1.flac") == 600 * RATE // 1000


def test_tags_are_in_the_file(tmp_path):
    path = tmp_path / "1.flac"
    stitch_chapter([Part(None, 600)], 0.0, RULES, TAGS, RATE, path)
    with soundfile.SoundFile(path) as file:
        assert (file.title, file.album, file.artist) == ("A “title” of two lines", "Book", "")


def test_one_gain_brings_the_middle_take_to_its_level_and_no_peak_over_the_limit():
    def level(rms: float, peak: float) -> Level:
        return Level(rms, peak, 0, 0)

    assert book_gain_db([], RULES) == 0.0
    assert book_gain_db([level(-27, -14), level(-26, -13), level(-30, -16)], RULES) == 7.0
    assert book_gain_db([level(-27, -6)], RULES) == 3.0


def test_a_take_too_loud_for_the_gain_is_turned_down_and_not_clipped(tmp_path):
    parts = [Part(take(tmp_path, "a", square(0.5, 30_000)), 0)]
    stitch_chapter(parts, 12.0, RULES, TAGS, RATE, tmp_path / "1.flac")
    pcm, _ = soundfile.read(tmp_path / "1.flac", dtype="int16")
    assert 32_000 < pcm.max() < 32_767


def test_joined_takes_are_as_long_as_their_parts_and_the_gap(tmp_path):
    takes = [take(tmp_path, "a", square(0.5)), take(tmp_path, "b", square(0.25))]
    assert len(join_takes(takes, 120, RULES)) == (500 + 250 + 120) * RATE // 1000


def test_a_take_that_cannot_be_read_leaves_no_file(tmp_path):
    bad = take(tmp_path, "a", square(0.5))
    bad.path.write_bytes(b"")
    with pytest.raises(OutputError, match=r"a\.flac"):
        stitch_chapter([Part(bad, 0)], 0.0, RULES, TAGS, RATE, tmp_path / "1.flac")
    assert {p.name for p in tmp_path.iterdir()} == {"a.flac"}
