"""The Ray pool means the same as the local one."""

from __future__ import annotations

import json

import pytest

from tests.conftest import digests, write_voice

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
