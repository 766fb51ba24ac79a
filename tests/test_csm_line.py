"""CSM at the level of its user, with a tiny checkpoint: the example book to an m4b, and speech that never ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import soundfile

from tests.conftest import ROOT, digests, render_book_command, report_of
from tests.engines.csm.checkpoints import make_checkpoint

pytestmark = pytest.mark.codec


@pytest.fixture
def voice(tmp_path: Path) -> Path:
    make_checkpoint(tmp_path / "checkpoint")
    path = tmp_path / "tiny.yaml"
    path.write_text("engine: csm\nlanguage: en\nlicence: CC0-1.0\noptions: {model: checkpoint}\n")
    return path


def test_from_epub_to_m4b(tmp_path, voice):
    """Typed as a user types it. Its weights know no words, so that every row is ended by the boost."""
    epub = tmp_path / "story.epub"
    subprocess.run([sys.executable, ROOT / "examples" / "build_epub.py", ROOT / "examples" / "story", epub], check=True)
    ran = render_book_command(
        epub, "--voice", voice, "--workers", 1, "--output", "book", "--format", "m4b,flac", cwd=tmp_path, timeout=400
    )
    assert ran.code == 0, ran.err
    assert (report_of(tmp_path / "book")["missing"], report_of(tmp_path / "book")["num_refused"]) == ([], 0)
    assert len(digests(tmp_path / "book")) == 3
    assert (tmp_path / "book" / "The Clock That Waited.m4b").stat().st_size > 100_000
    assert "Loading weights" not in ran.err


def test_rows_beside_each_other_make_the_same_bytes_as_rows_alone(command, tmp_path, voice, small_book):
    for slots in (1, 5):
        config = tmp_path / f"{slots}.yaml"
        config.write_text(f"engines: {{csm: {{slots: {slots}}}}}")
        ran = command(small_book, "--voice", voice, "--workers", 1, "--config", config, "--output", slots)
        assert ran.code == 0, ran.err
    assert digests(tmp_path / "1") == digests(tmp_path / "5") != {}


def test_a_trace_of_ranks_lies_beside_each_take(command, tmp_path, voice, small_book):
    ran = command(small_book, "--voice", voice, "--workers", 1, "--trace-eos", "--output", "book")
    assert ran.code == 0, ran.err
    takes = sorted((tmp_path / "book" / "takes").rglob("*.flac"))
    assert takes
    for take in takes:
        trace = json.loads(take.with_suffix(".eos.json").read_text())
        seconds = soundfile.info(take).duration
        assert (trace["measure"], trace["end"]) == ("rank", round(seconds * trace["frames_per_second"]))
        assert len(trace["values"]) == trace["end"] + 1
        assert trace["earliest_step"] <= trace["armed_at"] - trace["trigger_steps"] + 1
        dips = trace["values"][int(trace["armed_at"]) - 2 : int(trace["armed_at"]) + 1]
        assert max(dips) < trace["trigger_rank"]


def test_speech_that_never_ends_is_refused_and_listed(command, tmp_path, voice, small_book):
    config = tmp_path / "off.yaml"
    config.write_text(json.dumps({"engines": {"csm": {"eos_scale": 0}}, "render": {"attempts": 1, "max_splits": 0}}))
    ran = command(small_book, "--voice", voice, "--workers", 1, "--config", config, "--output", "book")
    assert ran.code == 6
    report = report_of(tmp_path / "book")
    assert len(report["missing"]) == report["num_chunks"]
    assert all("end of speech" in missing["reason"] for missing in report["missing"])
