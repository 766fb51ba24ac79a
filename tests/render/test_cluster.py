"""The Ray pool means the same as the local one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.conftest import digests, write_voice
from tests.test_cli import wait_for

pytestmark = pytest.mark.ray


@pytest.mark.parametrize("voice", ["tone", pytest.param("joe", marks=pytest.mark.speech)])
def test_one_worker_and_two_make_the_same_bytes(command, small_book, tmp_path, voice):
    for workers in (1, 2):
        ran = command(small_book, "--voice", voice, "--workers", workers, "--output", f"out-{workers}")
        assert ran.code == 0, ran.err
    assert digests(tmp_path / "out-1") == digests(tmp_path / "out-2")


def test_a_worker_that_dies_is_replaced_and_its_chunk_listed(command, small_book, tmp_path):
    voice = write_voice(tmp_path, "{match: river, do: die}")
    ran = command(small_book, "--voice", voice, "--workers", 2)
    assert ran.code == 6, ran.err
    report = json.loads((tmp_path / "output" / "small" / "report.json").read_text())
    assert ["In the morning the river" in missing["text"] for missing in report["missing"]] == [True]
    assert report["num_rendered"] == report["num_chunks"] - 1


def test_a_voice_that_no_worker_can_open_is_said_in_a_sentence_and_lists_nothing(command, small_book, tmp_path):
    """The model is there and right when the run begins; in the workers its package is not."""
    voice = tmp_path / "bad.yaml"
    voice.write_text("engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions: {opens: 'false'}\n")
    ran = command(small_book, "--voice", voice, "--workers", 2)
    assert ran.code == 5, ran.err
    assert "No worker can start" in ran.err
    voice.write_text("engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions: {opens: 'true'}\n")
    assert command(small_book, "--voice", voice).code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_answered_as_with_one_worker(small_book, tmp_path, number):
    slow = tmp_path / "slow.yaml"
    slow.write_text("engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions: {seconds_per_take: 0.5}\n")
    running = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", small_book, "--voice", slow, "--workers", "2"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    wait_for(tmp_path / "output" / "small" / "takes", timeout_s=60)
    os.killpg(running.pid, number)  # as a terminal does
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130, err
    assert "to go on" in err
    assert "Traceback" not in err
