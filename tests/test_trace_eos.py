"""`--trace-eos`: what each take's end of speech was judged by, beside it, and nothing else changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.engines.base import EosTrace
from tests.conftest import digests, report_of, write_voice
from tests.test_changes import first_chunk


def files_of(folder: Path, ending: str) -> set[str]:
    """The takes that have a file which ends like this, as `<key>.<attempt>`."""
    return {path.name.removesuffix(ending) for path in (folder / "takes").rglob(f"*{ending}")}


def test_each_accepted_take_has_its_trace_and_no_refused_one(command, small_book, tmp_path):
    voice = write_voice(tmp_path, "{match: river, do: miss-eos, attempts: '0'}")
    assert command(small_book, "--voice", voice, "--output", "traced", "--trace-eos").code == 0
    traced = tmp_path / "traced"
    assert files_of(traced, ".eos.json") == files_of(traced, ".flac")
    river = first_chunk(traced, "river")
    assert f"{river}.1" in files_of(traced, ".eos.json")
    trace = json.loads((traced / "takes" / river[:2] / f"{river}.1.eos.json").read_text())
    assert set(trace) == {
        "measure", "frames_per_second", "values", "end", "threshold", "tail_frames", "budget", "expected",
    }  # fmt: skip
    assert trace["values"] == [-9.0] * trace["end"] + [1.0]
    assert (trace["measure"], trace["frames_per_second"]) == ("logit", 12.5)


def test_it_changes_no_key_no_byte_and_no_take_that_is_there(command, small_book, tmp_path):
    assert command(small_book, "--voice", "tone", "--output", "plain").code == 0
    assert command(small_book, "--voice", "tone", "--output", "traced", "--trace-eos").code == 0
    plain, traced = tmp_path / "plain", tmp_path / "traced"
    assert not [*plain.rglob("*.eos.json")]
    assert files_of(plain, ".flac") == files_of(traced, ".flac")
    assert digests(plain) == digests(traced) != {}
    assert command(small_book, "--voice", "tone", "--output", "plain", "--trace-eos").code == 0
    assert report_of(plain)["num_rendered"] == 0
    assert not [*plain.rglob("*.eos.json")], "nothing was rendered that could be traced"


def test_a_redo_traces_as_its_run_did(command, small_book, tmp_path):
    assert command(small_book, "--voice", "tone", "--output", "traced", "--trace-eos").code == 0
    river = first_chunk(tmp_path / "traced", "river")
    assert command("redo", "traced", "--chunk", river).code == 0
    assert f"{river}.1" in files_of(tmp_path / "traced", ".eos.json")


def test_a_voice_without_it_is_refused_before_any_work(command, small_book, tmp_path):
    ran = command(small_book, "--voice", "joe", "--trace-eos", "--output", "book")
    assert ran.code == 2
    assert ran.err == (
        "--trace-eos doesn't apply to the voice joe (piper), which has no end of speech to trace: leave it out (in a "
        f"manifest, `trace_eos` of {small_book}).\n"
    )
    job = tmp_path / "job.yaml"
    job.write_text(
        "defaults: {voice: tone, trace_eos: yes}\nbooks:\n- source: small.txt\n- {source: other.txt, voice: joe}\n"
    )
    (tmp_path / "other.txt").write_text("Nobody saw it.")
    ran = command(job, "--trace-eos")
    assert (ran.code, "--trace-eos goes into the manifest" in ran.err) == (2, True)
    ran = command(job)
    assert (ran.code, "`trace_eos` of " + str(tmp_path / "other.txt") in ran.err) == (2, True)
    assert not (tmp_path / "book").exists()
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize(("said", "traced"), [("trace_eos: yes", True), ("trace_eos: no", False), ("seed: 1", False)])
def test_a_manifest_says_it_of_a_book(command, small_book, tmp_path, said, traced):
    job = tmp_path / "job.yaml"
    job.write_text(f"defaults: {{voice: tone, formats: flac}}\nbooks:\n- {{source: small.txt, {said}}}\n")
    assert command(job).code == 0
    folder = tmp_path / "output" / "small"
    assert files_of(folder, ".eos.json") == (files_of(folder, ".flac") if traced else set())


def test_a_trace_is_json_whatever_its_numbers_are():
    trace = EosTrace("rank", 12.5, (150.0, float("nan"), float("-inf"), 0.10000000149011612), None, {"budget": 9})
    assert json.loads(json.dumps(trace.as_dict(), allow_nan=False)) == {
        "measure": "rank", "frames_per_second": 12.5, "budget": 9, "end": None, "values": [150.0, None, None, 0.1],
    }  # fmt: skip
