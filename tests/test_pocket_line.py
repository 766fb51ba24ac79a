"""Pocket TTS at the level of its user: voices, messages, a book from EPUB to m4b, with a tiny checkpoint."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import wave
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile

from pipeline.engines import registry
from pipeline.engines.base import Failed, Hardware, RawTake, Request
from pipeline.voices import read_voice
from tests.conftest import ROOT, Ran, digests, render_book_command, report_of
from tests.engines.pocket.checkpoints import FRAME, TEXTS, TinyModel, make_tiny

pytestmark = pytest.mark.pocket

Command = Callable[..., Ran]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    return make_tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(autouse=True)
def own_voices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No voice of whoever runs the tests, and no network."""
    monkeypatch.setenv("RENDER_BOOK_VOICES", str(tmp_path / "voices"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    return tmp_path / "voices"


def voice_file(folder: Path, model: Path, state: Path, **more: str) -> Path:
    path = folder / "tiny.yaml"
    options = {"model": str(model), "state": str(state), **more}
    path.write_text(f"engine: pocket\nlanguage: en\nlicence: CC0-1.0\noptions: {json.dumps(options)}\n")
    return path


@pytest.fixture
def voice(tmp_path: Path, tiny: TinyModel) -> Path:
    return voice_file(tmp_path, tiny.kyutai_yaml, tiny.kyutai_voice)


def test_from_epub_to_m4b(tmp_path, voice):
    """Typed as a user types it; what ran into its budget was rendered again or in parts, and nothing is missing."""
    epub = tmp_path / "story.epub"
    subprocess.run([sys.executable, ROOT / "examples" / "build_epub.py", ROOT / "examples" / "story", epub], check=True)
    ran = render_book_command(epub, "--voice", voice, "--output", "book", "--format", "m4b,flac", cwd=tmp_path)
    assert ran.code == 0, ran.err
    report = report_of(tmp_path / "book")
    assert report["missing"] == []
    assert report["num_refused"] > 0, "with random weights some texts don't end"
    assert len(digests(tmp_path / "book")) == 3
    assert (tmp_path / "book" / "The Clock That Waited.m4b").stat().st_size > 100_000


@pytest.mark.ray
def test_one_worker_and_two_and_four_make_the_same_bytes(tmp_path, voice, small_book):
    for name, workers in (("one", 1), ("two", 2), ("four", 4)):
        ran = render_book_command(
            small_book, "--voice", voice, "--dtype", "float32", "--output", name, "--workers", workers, cwd=tmp_path
        )
        assert ran.code == 0, ran.err
    assert digests(tmp_path / "one") == digests(tmp_path / "two") == digests(tmp_path / "four") != {}


@pytest.mark.slow
def test_killed_and_run_again_it_makes_the_same_bytes(tmp_path, voice):
    book = tmp_path / "long.txt"
    book.write_text("\n\n".join(f"The {word} came at noon, and nobody had seen it before." for word in WORDS))
    words = [book, "--voice", voice, "--dtype", "float32"]
    whole = render_book_command(*words, "--output", "whole", cwd=tmp_path)
    assert whole.code == 0, whole.err
    command = [sys.executable, "-m", "pipeline.cli", *map(str, words), "--output", "killed"]
    running = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    ledger = tmp_path / "killed" / "ledger.sqlite"
    while not count_takes(ledger) and running.poll() is None:
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    kept = count_takes(ledger)
    again = render_book_command(*words, "--output", "killed", cwd=tmp_path)
    assert again.code == 0, again.err
    assert digests(tmp_path / "whole") == digests(tmp_path / "killed") != {}
    assert report_of(tmp_path / "killed")["num_reused"] == kept > 0


def count_takes(ledger: Path) -> int:
    """The takes that have their row; none where there is no ledger yet."""
    if not ledger.is_file():
        return 0
    try:
        with closing(sqlite3.connect(ledger)) as db:
            return int(db.execute("SELECT count(*) FROM takes").fetchone()[0])
    except sqlite3.OperationalError:  # its tables aren't made yet
        return 0


WORDS = (
    "postman", "ferry", "tailor", "storm", "cousin", "horse", "letter", "doctor", "train", "cook",
    "widow", "captain", "cat", "lamp", "clerk", "gypsy", "sailor", "piper", "judge", "baker",
)  # fmt: skip


def test_speech_that_never_ends_is_retried_split_and_listed(command: Command, small_book, tmp_path, voice):
    ran = command(small_book, "--voice", voice, "--eos-threshold", "1e9", "--output", "endless")
    assert ran.code == 6
    report = report_of(tmp_path / "endless")
    assert len(report["missing"]) == report["num_chunks"]
    assert all("end of speech" in missing["reason"] for missing in report["missing"])
    assert report["num_refused"] > 3 * report["num_chunks"], "three attempts each, and those of the parts"
    assert "The lamp was lit at six." in " ".join(missing["text"] for missing in report["missing"])


def test_what_changes_the_sound_is_rendered_again_and_what_does_not_is_not(command: Command, small_book, voice):
    def num_rendered(*words: str) -> int:
        ran = command(small_book, "--voice", voice, "--output", "book", *words)
        assert ran.code == 0, ran.err
        return int(report_of(Path("book"))["num_rendered"])

    first = num_rendered()
    assert first > 0
    assert num_rendered() == 0
    assert num_rendered("--device", "cpu") == 0
    assert num_rendered("--dtype", "float32") >= first
    assert num_rendered("--frames-after-eos", "9") >= first


def test_more_frames_after_the_end_of_speech_make_longer_takes(command: Command, tmp_path, voice):
    """Without noise, since the flag is in the key, and the noise follows from that."""
    book = tmp_path / "book.txt"
    book.write_text("\n\n".join(TEXTS))
    (tmp_path / "calm.yaml").write_text("engines: {pocket: {temperature: 0}}\n")
    lengths = []
    for frames in ("0", "9"):
        words = (book, "--voice", voice, "--config", "calm.yaml", "--frames-after-eos", frames, "--output", frames)
        assert command(*words).code == 0
        takes = (tmp_path / frames / "takes").rglob("*.flac")
        lengths.append(sorted(soundfile.info(take).frames for take in takes))
    assert len(lengths[0]) == len(lengths[1]) > 4
    assert [longer - shorter for shorter, longer in zip(*lengths, strict=True)] == [9 * FRAME] * len(lengths[0])


def test_a_trace_lies_beside_each_take_and_a_plain_render_leaves_none(command: Command, tmp_path, voice):
    book = tmp_path / "book.txt"
    book.write_text("\n\n".join(TEXTS))
    for name, flags in (("plain", ()), ("traced", ("--trace-eos",))):
        assert command(book, "--voice", voice, "--dtype", "float32", "--output", name, *flags).code == 0
    takes = {path.name: path for path in (tmp_path / "traced" / "takes").rglob("*.flac")}
    assert set(takes) == {path.name for path in (tmp_path / "plain" / "takes").rglob("*.flac")}, "keys and attempts"
    assert digests(tmp_path / "plain") == digests(tmp_path / "traced")
    assert not [*(tmp_path / "plain").rglob("*.eos.json")]
    with closing(sqlite3.connect(tmp_path / "traced" / "ledger.sqlite")) as db:
        rows = db.execute("SELECT key, attempt, num_frames FROM takes WHERE num_frames > 0").fetchall()
    traces = {path.name: json.loads(path.read_text()) for path in (tmp_path / "traced").rglob("*.eos.json")}
    assert set(traces) == {f"{key}.{attempt}.eos.json" for key, attempt, _ in rows}, "what was put together has none"
    assert len(traces) > 4
    for key, attempt, num_frames in rows:
        trace = traces[f"{key}.{attempt}.eos.json"]
        assert min(trace["end"] + 1 + trace["tail_frames"], trace["budget"]) == num_frames == len(trace["values"])
        assert trace["values"][trace["end"]] > trace["threshold"]
        assert not any(value > trace["threshold"] for value in trace["values"][trace["min_frames"] : trace["end"]])


def test_numbers_of_a_threshold_that_does_not_fall_change_nothing(command: Command, tmp_path, small_book, voice):
    def num_rendered(profile: str) -> int:
        (tmp_path / "my.yaml").write_text(f"engines: {{pocket: {profile}}}\n")
        ran = command(small_book, "--voice", voice, "--config", "my.yaml", "--output", "book")
        assert ran.code == 0, ran.err
        return int(report_of(Path("book"))["num_rendered"])

    first = num_rendered("{dtype: float32}")
    assert first > 0
    assert num_rendered("{dtype: float32, eos_fall: 0, eos_near: 5, eos_near_frames: 9, eos_expected_share: 2}") == 0
    assert num_rendered("{dtype: float32, eos_fall: 0.5, eos_near: 5}") >= first


def test_redo_keeps_the_flags_of_the_run(command: Command, small_book, tmp_path, voice):
    assert command(small_book, "--voice", voice, "--dtype", "float32", "--output", "book").code == 0
    script = json.loads((tmp_path / "book" / "script.json").read_text())
    key = script["chapters"][0]["chunks"][0]["id"]
    ran = command("redo", "book", "--chunk", key)
    assert ran.code == 0, ran.err
    assert report_of(tmp_path / "book")["num_reused"] == report_of(tmp_path / "book")["num_chunks"] - 1


@pytest.mark.parametrize("flag", ["--eos-threshold=-3", "--frames-after-eos=2", "--dtype=float32", "--device=cpu"])
def test_a_flag_of_pocket_tts_is_refused_for_another_engine(command: Command, small_book, flag):
    ran = command(small_book, "--voice", "tone", flag)
    assert ran.code == 2
    assert ran.err == f"{flag.partition('=')[0]} doesn't apply to the voice tone (tone): leave it out.\n"


def test_without_its_model_a_voice_says_what_to_do(command: Command, small_book):
    for words in ((small_book,), ("plan", small_book), ("voices", "fetch", "alba")):
        ran = command(*words)
        assert ran.code == 5
        assert "kyutai/pocket-tts-without-voice-cloning" in ran.err
        assert (
            "`render-book voices fetch alba` (with your --config, if any) downloads all it needs (up to 450 MB)"
            in ran.err
        )
        assert "--voice joe speaks without" in ran.err
    assert not Path("output").exists()


def narrator(path: Path, seconds: float, rate: int = 44_100) -> Path:
    """A stereo recording at another rate than the model's: tones that swell and fall."""
    time_s = np.arange(int(seconds * rate)) / rate
    sound = np.sin(2 * np.pi * 180 * time_s) * (0.4 + 0.3 * np.sin(2 * np.pi * 3 * time_s))
    stereo = np.stack([sound, 0.5 * sound], 1)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((stereo * 20_000).astype("<i2").tobytes())
    return path


def test_a_recording_becomes_a_voice(command: Command, small_book, tmp_path, tiny, own_voices):
    recording = narrator(tmp_path / "narrator.wav", 1.5)
    ran = command(
        "voices", "add", recording, "--name", "mine", "--licence", "own", "--credit", "Me", "--model", tiny.kyutai_yaml
    )
    assert ran.code == 0, ran.err
    assert ran.out == f"Added the voice mine from 1.5 s of {recording}: {own_voices}/mine.yaml\n"
    assert "mine             pocket   en   own" in command("voices").out.splitlines()
    assert command(small_book, "--voice", "mine", "--output", "book").code == 0
    ran = command("voices", "add", recording, "--name", "mine", "--licence", "own", "--model", tiny.kyutai_yaml)
    assert (ran.code, "there is such a voice" in ran.err) == (2, True)


def test_of_a_long_recording_half_a_minute_is_used(command: Command, tmp_path, tiny):
    recording = narrator(tmp_path / "long.wav", 31.5, rate=16_000)
    ran = command("voices", "add", recording, "--name", "long", "--licence", "own", "--model", tiny.kyutai_yaml)
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[1] == "Only the first 30 of its 32 s are used."


@pytest.mark.parametrize(
    ("make", "words", "code", "says"),
    [
        (lambda path: narrator(path, 0.4), ("--name", "x", "--licence", "own"), 5, "is 0.4 s long: a voice needs"),
        (lambda path: path.write_bytes(b"nothing"), ("--name", "x", "--licence", "own"), 5, "holds no audio"),
        (lambda path: None, ("--name", "x", "--licence", "own"), 5, "There is no recording"),
        (lambda path: narrator(path, 2), ("--name", "alba", "--licence", "own"), 2, "a voice of that name comes with"),
        (lambda path: narrator(path, 2), ("--name", "a/b", "--licence", "own"), 2, "can't be a voice's name"),
        (lambda path: narrator(path, 2), ("--name", "x", "--licence", " "), 2, "under which licence"),
        (lambda path: narrator(path, 2), ("--name", "x"), 2, "Missing option '--licence'"),
    ],
)  # fmt: skip
def test_a_recording_that_makes_no_voice(command: Command, tmp_path, tiny, own_voices, make, words, code, says):
    recording = tmp_path / "narrator.wav"
    make(recording)
    ran = command("voices", "add", recording, *words, "--model", tiny.kyutai_yaml)
    assert ran.code == code
    assert says in ran.err
    assert not own_voices.exists()


def test_a_silent_recording_makes_no_voice(command: Command, tmp_path, tiny):
    with wave.open(str(tmp_path / "silent.wav"), "wb") as file:
        file.setparams((1, 2, 24_000, 0, "NONE", ""))
        file.writeframes(bytes(96_000))
    ran = command("voices", "add", "silent.wav", "--name", "x", "--licence", "own", "--model", tiny.kyutai_yaml)
    assert (ran.code, "is silent" in ran.err) == (5, True)


def test_a_voice_that_may_not_be_sold_says_so_when_it_is_fetched_and_when_it_reads(command: Command, small_book, voice):
    voice.write_text(voice.read_text().replace("CC0-1.0", "CC-BY-NC-4.0"))
    ran = command(small_book, "--voice", voice)
    assert ran.code == 0
    assert "(CC-BY-NC-4.0): this audiobook may not be sold." in ran.err
    assert "may not be sold" in command("voices", "fetch", voice).out


def test_a_voice_of_other_weights_is_refused_by_name(command: Command, small_book, tmp_path, tiny):
    other = make_tiny(tmp_path / "other", seed=1)
    voice = voice_file(tmp_path, tiny.kyutai_yaml, other.kyutai_voice)
    ran = command(small_book, "--voice", voice, "--output", "book")
    assert ran.code == 5
    assert "The voice tiny was made by other weights than this model's" in ran.err


def test_a_checkpoint_as_transformers_saves_it_says_the_same(command: Command, tmp_path, tiny):
    """Without noise, since a seed follows from the key, and the key from the weights' files."""
    book = tmp_path / "book.txt"
    book.write_text("\n\n".join(TEXTS))
    (tmp_path / "calm.yaml").write_text("engines: {pocket: {temperature: 0, dtype: float32}}\n")
    voice = voice_file(tmp_path, tiny.kyutai_yaml, tiny.kyutai_voice)
    ran = command(book, "--voice", voice, "--config", "calm.yaml", "--output", "kyutai")
    assert ran.code == 0, ran.err
    voice = voice_file(tmp_path, tiny.transformers_dir, tiny.transformers_voice, codec=str(tiny.codec_dir))
    ran = command(book, "--voice", voice, "--config", "calm.yaml", "--output", "transformers")
    assert ran.code == 0, ran.err
    first, second = (
        soundfile.read(tmp_path / name / "chapters" / "001.flac")[0] for name in ("kyutai", "transformers")
    )
    assert len(first) == len(second) > 0
    assert np.abs(first - second).max() < 1e-3


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("model", "englsh", "There is no model 'englsh'"),
        ("model", "nowhere.yaml", "There is no model config nowhere.yaml"),
        ("state", "nowhere.safetensors", "nowhere.safetensors, which isn't here"),
        ("dtype", "float8", "options.dtype"),
        ("sha256", "abc", "its sha256 differs"),
    ],
)
def test_a_voice_file_with_a_fault(command: Command, small_book, tmp_path, tiny, option, value, says):
    options = {"model": str(tiny.kyutai_yaml), "state": str(tiny.kyutai_voice)} | {option: value}
    path = tmp_path / "tiny.yaml"
    path.write_text(f"engine: pocket\nlanguage: en\nlicence: CC0-1.0\noptions: {json.dumps(options)}\n")
    ran = command(small_book, "--voice", path)
    assert ran.code in (4, 5)
    assert says in ran.err
    assert ran.err.count("\n") == 1


def test_a_row_of_numbers_that_are_none_is_listed_and_leaves_nothing_behind(tiny):
    """0 * NaN is NaN: what a broken row leaves in its slot must not reach the next one."""
    voice = read_voice(str(voice_file(tiny.folder, tiny.kyutai_yaml, tiny.kyutai_voice, dtype="float32")))
    engine = registry.open_engine(voice, Hardware(num_threads=1, num_slots=4))

    def outcomes(*requests: Request) -> dict[str, RawTake | Failed]:
        for request in requests:
            engine.admit(request)
        found: dict[str, RawTake | Failed] = {}
        while len(found) < len(requests):
            found |= {outcome.key: outcome for outcome in engine.step()}
        return found

    whole = Request("whole", TEXTS[0], 0, seed=1, budget=60)
    broken = Request("broken", TEXTS[3], 0, seed=2, budget=60, sampling={"temperature": float("inf")})
    alone = outcomes(whole)["whole"]
    found = outcomes(broken, *(replace(whole, key=str(number)) for number in range(8)))
    failed = found.pop("broken")
    assert isinstance(failed, Failed)
    assert "no number" in failed.message
    for take in found.values():
        assert isinstance(take, RawTake)
        assert isinstance(alone, RawTake)
        assert take.samples.tobytes() == alone.samples.tobytes()


def test_a_voice_added_for_one_model_is_refused_by_another(command: Command, small_book, tmp_path, tiny):
    other = make_tiny(tmp_path / "other", seed=1)
    recording = narrator(tmp_path / "narrator.wav", 1.2)
    assert command("voices", "add", recording, "--name", "m", "--licence", "own", "--model", tiny.kyutai_yaml).code == 0
    (tmp_path / "other.yaml").write_text(f"engines: {{pocket: {{model: {other.kyutai_yaml}}}}}\n")
    ran = command(small_book, "--voice", "m", "--config", "other.yaml")
    assert (ran.code, "The voice m was added for another model" in ran.err) == (5, True)


def test_a_state_that_changes_is_another_voice(command: Command, small_book, tmp_path, tiny):
    """Whether or not the voice file says its digest."""
    state = tmp_path / "state.safetensors"
    state.write_bytes(tiny.kyutai_voice.read_bytes())
    voice = voice_file(tmp_path, tiny.kyutai_yaml, state)
    assert command(small_book, "--voice", voice, "--output", "book").code == 0
    state.write_bytes(tiny.voice_latents.read_bytes())
    assert command(small_book, "--voice", voice, "--output", "book").code == 0
    assert report_of(tmp_path / "book")["num_reused"] == 0


def test_a_text_that_breaks_a_step_is_listed_and_its_mates_are_not(command: Command, tmp_path, voice, monkeypatch):
    """All rows of a batch fail with it; each is then asked for alone."""
    from pipeline.engines.pocket.engine import PocketEngine

    step = PocketEngine.step

    def faulty(self: PocketEngine) -> list[RawTake | Failed]:
        if any("bridge" in row.request.text for _, row in self._table.live()):
            raise RuntimeError("as told")
        return step(self)

    monkeypatch.setattr(PocketEngine, "step", faulty)
    book = tmp_path / "book.txt"
    book.write_text("\n\n".join(TEXTS))
    (tmp_path / "calm.yaml").write_text("engines: {pocket: {temperature: 0, dtype: float32}}\n")
    ran = command(book, "--voice", voice, "--config", "calm.yaml", "--output", "book")
    assert ran.code == 6
    [missing] = report_of(tmp_path / "book")["missing"]
    assert "bridge" in missing["text"]
    assert "as told" in missing["reason"]
