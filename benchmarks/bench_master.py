"""Ten hours of speech-shaped noise, a take every 6 s, stitched into chapters and packed as an m4b.

    python benchmarks/bench_master.py [HOURS]

Prints x real time of each step and of both, and the peak memory of the process that did them.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from pipeline.master.aac import encode_chapter
from pipeline.master.deliver import Tags, pack_m4b
from pipeline.master.stitcher import ChapterTags, Part, stitch_chapter
from pipeline.profile import read_profile
from pipeline.render.pcm import encode_flac, measure_level, to_pcm16
from pipeline.render.store import StoredTake

RATE = 24_000
TAKE_SECONDS = 6.0
GAP_MS = 250
NUM_DISTINCT = 100
CHAPTER_SECONDS = 1800


def speech_shaped(seed: int) -> np.ndarray:
    """Noise with the spectrum of speech (falling 6 dB an octave from 500 Hz) and four syllables a second."""
    random = np.random.default_rng(seed)
    num_samples = int((TAKE_SECONDS - GAP_MS / 1000) * RATE)
    spectrum = np.fft.rfft(random.standard_normal(num_samples))
    hertz = np.fft.rfftfreq(num_samples, 1 / RATE)
    noise = np.fft.irfft(spectrum / np.maximum(hertz / 500, 1.0) ** 1.0, num_samples)
    syllables = np.sin(np.pi * 4 * np.arange(num_samples) / RATE) ** 2
    samples = noise * syllables
    return (0.3 * samples / np.abs(samples).max()).astype(np.float32)


def make_takes(folder: Path) -> list[StoredTake]:
    takes = []
    for seed in range(NUM_DISTINCT):
        pcm = to_pcm16(speech_shaped(seed))
        path = folder / f"{seed}.flac"
        path.write_bytes(encode_flac(pcm, RATE))
        takes.append(StoredTake(str(seed), 0, path, str(seed), len(pcm), RATE, measure_level(pcm, RATE, -50)))
    return takes


def master(folder: Path, takes: list[StoredTake], hours: float) -> None:
    """What is measured: run in a process of its own, so that its peak is its own."""
    rules = read_profile(None).master.rules()
    takes_a_chapter = int(CHAPTER_SECONDS / TAKE_SECONDS)
    num_chapters = max(1, round(hours * 3600 / CHAPTER_SECONDS))
    spent = {"stitched": 0.0, "encoded as AAC": 0.0, "packed": 0.0}
    chapters, num_samples = [], 0
    for number in range(num_chapters):
        parts = [Part(takes[(number + i) % NUM_DISTINCT], GAP_MS) for i in range(takes_a_chapter)]
        path = folder / f"{number:03}.flac"
        tags = ChapterTags(f"Chapter {number}", "Book", "Nobody", "noise", number)
        at = time.monotonic()
        num_samples += stitch_chapter(parts, 3.0, rules, tags, RATE, path)
        spent["stitched"] += time.monotonic() - at
        at = time.monotonic()
        encode_chapter(path, path.with_suffix(".m4a"))
        spent["encoded as AAC"] += time.monotonic() - at
        chapters.append((f"Chapter {number}", path.with_suffix(".m4a")))
    at = time.monotonic()
    pack_m4b(chapters, Tags("Book", ("Nobody",), "noise", "en"), folder / "book.m4b")
    spent["packed"] += time.monotonic() - at
    seconds = num_samples / RATE
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"audio            {seconds / 3600:8.2f} h in {num_chapters} chapters, one core")
    for name, wall in spent.items():
        print(f"{name:<16} {seconds / wall:8.0f} x real time")
    print(f"all              {seconds / sum(spent.values()):8.0f} x real time   (at least 200)")
    print(f"peak memory      {peak_mb:8.0f} MB              (at most 400)")


if __name__ == "__main__":
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory(prefix="bench-master-") as name:
        folder = Path(name)
        made = make_takes(folder)
        process = multiprocessing.get_context("spawn").Process(target=master, args=(folder, made, hours))
        process.start()
        process.join()
        sys.exit(process.exitcode)
