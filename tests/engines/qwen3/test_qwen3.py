"""Qwen3-TTS in its own environment, with tiny checkpoints that its package makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from pipeline.engines.qwen3 import PACKAGES
from pipeline.errors import IncompleteError, VoiceError
from pipeline.render.environment import own_packages
from tests.conftest import ROOT, Ran, digests, render_book_command, report_of
from tests.engines.csm.checkpoints import make_checkpoint

pytestmark = [pytest.mark.ray, pytest.mark.codec]

Command = Callable[..., Ran]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the environment is made, once, by the package index."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def packages(cache: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        try:
            return own_packages("qwen3", PACKAGES, print)
        except VoiceError as error:
            options = ["--no-deps", "--no-cache-dir", "--dest", cache]
            command = [sys.executable, "-m", "pip", "download", *options, "packaging"]
            if subprocess.run(command, capture_output=True, timeout=300, check=False).returncode:
                pytest.skip(f"no package index can be reached: {error}")
            raise


@pytest.fixture(scope="session")
def run_inside(packages: Path) -> Callable[..., str]:
    """Runs a module of the tests where the package is."""

    def run(module: str, *words: object) -> str:
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, words)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(packages), str(ROOT)]), "HF_HUB_OFFLINE": "1"},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory, run_inside: Callable[..., str]) -> Path:
    """A folder with a checkpoint of each kind, and a recording."""
    folder = tmp_path_factory.mktemp("qwen3")
    run_inside("tests.engines.qwen3.checkpoints", folder)
    seconds = np.arange(3 * 24_000) / 24_000
    soundfile.write(folder / "said.wav", 0.3 * np.sin(2 * np.pi * (220 + 20 * seconds) * seconds), 24_000)
    return folder


@pytest.fixture(scope="session")
def found(tiny: Path, run_inside: Callable[..., str]) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(run_inside("tests.engines.qwen3.engine_run", tiny))
    return made


def test_a_batch_says_what_each_of_its_rows_says_alone(found):
    """To the byte: a preset speaker, a recording gone on from, and a recording of which only the colour is taken."""
    assert found["together"] == found["alone"]
    assert found["cloned"] == found["cloned alone"]
    assert found["coloured"] == found["coloured alone"]
    sounds = {take[3] for name in ("together", "cloned", "coloured", "ben") for take in found[name].values()}
    assert len(sounds) == 4 * len(found["together"]), "and no two of these are the same"


def test_the_scores_of_a_row_have_the_same_bits_in_any_batch(found):
    """At the width of a released model: in smaller ones few kernels change with the batch."""
    assert len(found["wide"]) > 10
    assert all(found["wide"])


def test_a_row_follows_from_its_seed(found):
    for text, take in found["together"].items():
        assert found["other seeds"][text][3] != take[3]


def test_without_the_boost_the_codes_are_those_of_the_package(found):
    """Greedily, without its processors; from text to codes by its own words."""
    assert found["ours"] == found["theirs"]
    assert {stop for stop, *_ in found["greedy"].values()} == {"budget"}, "these weights never end speech by themselves"


def test_the_boost_ends_speech_and_the_budget_is_a_miss(found):
    for text, (stop, num_frames, num_samples, _) in found["boosted"].items():
        assert stop == "eos", text
        assert num_samples == num_frames * 1920
        earliest = len(text) / 2 * 12.5 * 0.5  # half of what the text is expected to take: a byte is a token here
        assert earliest <= num_frames <= earliest + 6
    assert all(num_frames == num_samples / 1920 for _, num_frames, num_samples, _ in found["greedy"].values())


def test_scores_that_are_no_numbers_fail_their_row_alone(found):
    assert found["broken"].pop("Yes.") == "exception"
    assert all(found["together"][text] == take for text, take in found["broken"].items())
    assert len(found["broken"]) == 3


BOOK = "Chapter 1\n\nThe lamp was lit at six. Nobody saw it.\n\nChapter 2\n\nThey never spoke of it again.\n"
PROFILE = """
judge: {min_seconds_per_letter: 0, silent_below_dbfs: -90, max_clipped_share: 1, max_seconds_per_letter: 10}
engines: {qwen3: {dtype: float32, device: cpu, tokens_per_second: 20, max_share: 1, spare_seconds: 2}}
"""


def write_job(folder: Path, model: Path) -> Path:
    (folder / "book.txt").write_text(BOOK)
    (folder / "fast.yaml").write_text(PROFILE)
    options = json.dumps({"model": str(model), "speaker": "ada"})
    (folder / "qwen3-tiny.yaml").write_text(f"engine: qwen3\nlanguage: en\nlicence: CC0-1.0\noptions: {options}\n")
    job = folder / "job.yaml"
    job.write_text(
        "output: out\nworkers: 1\ndefaults: {profile: fast.yaml, formats: flac}\nbooks:\n"
        "  - {source: book.txt, voice: qwen3-tiny.yaml, output: out/qwen3}\n"
        "  - {source: book.txt, voice: tone, output: out/tone}\n"
    )
    return job


def test_one_job_has_a_pool_of_it_in_its_own_environment_beside_others(tmp_path, tiny, cache, monkeypatch):
    """Among them CSM, which is transformers' of here."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    make_checkpoint(tmp_path / "csm")
    (tmp_path / "csm-tiny.yaml").write_text("engine: csm\nlanguage: en\nlicence: CC0-1.0\noptions: {model: csm}\n")
    job = write_job(tmp_path, tiny / "custom")
    with job.open("a") as file:
        file.write("  - {source: book.txt, voice: csm-tiny.yaml, output: out/csm, trace_eos: yes}\n")
    job.write_text(job.read_text().replace("output: out/qwen3}", "output: out/qwen3, trace_eos: yes}"))
    ran = render_book_command(job, cwd=tmp_path, timeout=300)
    assert ran.code == 0, ran.err + ran.out
    assert "Building" not in ran.err, "it is kept from one run to the next"
    for name in ("qwen3", "csm", "tone"):
        report = report_of(tmp_path / "out" / name)
        assert report["missing"] == []
        assert report["num_rendered"] == report["num_chunks"] > 0
        assert len(digests(tmp_path / "out" / name)) == 2
    for name in ("qwen3", "csm"):
        traces = [json.loads(path.read_text()) for path in (tmp_path / "out" / name / "takes").rglob("*.eos.json")]
        assert len(traces) == report_of(tmp_path / "out" / name)["num_chunks"]
        assert {(trace["measure"], len(trace["values"]) - trace["end"]) for trace in traces} == {("rank", 1)}


def without_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


def test_an_environment_that_cannot_be_built_is_said_in_a_sentence(tmp_path, tiny, monkeypatch):
    write_job(tmp_path, tiny / "custom")
    without_index(tmp_path, monkeypatch)
    ran = render_book_command("book.txt", "--voice", "qwen3-tiny.yaml", cwd=tmp_path)
    assert ran.code == VoiceError.exit_code, ran.err + ran.out
    [said] = [line for line in ran.err.splitlines() if "can't be built" in line]
    assert "qwen-tts==0.1.1" in said
    assert "No matching distribution" in said
    assert "PIP_INDEX_URL" in said
    assert not list((tmp_path / "cache").rglob("*.part")), "and nothing half made is left"


def test_the_other_books_of_its_job_are_rendered_all_the_same(tmp_path, tiny, monkeypatch):
    without_index(tmp_path, monkeypatch)
    ran = render_book_command(write_job(tmp_path, tiny / "custom"), cwd=tmp_path)
    assert ran.code == IncompleteError.exit_code, ran.err + ran.out
    assert "can't be built" in ran.err
    assert len(digests(tmp_path / "out" / "tone")) == 2


def test_fetching_a_voice_makes_its_environment_too(command: Command, tmp_path, tiny, cache, monkeypatch):
    write_job(tmp_path, tiny / "custom")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    assert "has all it needs" in command("voices", "fetch", "qwen3-tiny.yaml").out
    without_index(tmp_path, monkeypatch)
    ran = command("voices", "fetch", "qwen3-tiny.yaml")
    assert (ran.code, ran.err.count("can't be built")) == (VoiceError.exit_code, 1)
