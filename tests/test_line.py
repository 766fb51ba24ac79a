"""The whole line with the tone, at the level of its user: files on disk, messages, exit codes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import soundfile

from pipeline.engines.tone import FRAME, FRAMES_PER_TOKEN
from tests.conftest import digests, report_of, write_voice


def accepted_takes(folder: Path) -> set[str]:
    return {path.name for path in (folder / "takes").rglob("*.flac")}


def test_a_book_becomes_chapters_and_an_m4b(command, small_book, tmp_path):
    ran = command(small_book, "--voice", "tone", "--format", "m4b,flac")
    assert ran.code == 0, ran.err
    folder = tmp_path / "output" / "small"
    lines = ran.out.splitlines()
    assert lines[:3] == ["output/small/small.m4b", "output/small/chapters/001.flac", "output/small/chapters/002.flac"]
    assert [line for line in lines if "x real time" in line]
    assert (folder / "small.m4b").stat().st_size > 10_000
    plan = json.loads(command("plan", small_book, "--voice", "tone", "--json").out)
    for chapter in plan["chapters"]:
        sound = soundfile.info(str(folder / "chapters" / f"{chapter['index']:03}.flac"))
        frames = sum(FRAMES_PER_TOKEN * chunk["num_tokens"] * FRAME for chunk in chapter["chunks"])
        gaps = sum(chunk["pause_after_ms"] * 24 for chunk in chapter["chunks"])
        assert sound.frames == frames + gaps, "a tone has no silence to trim"


def test_the_same_command_again_renders_nothing(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "output").rglob("*.flac")}
    ran = command(small_book, "--voice", "tone")
    assert ran.code == 0
    assert "takes rendered" not in ran.out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "output").rglob("*.flac")} == before


@pytest.mark.parametrize("cut", [0.5, 0.0])
def test_a_damaged_take_is_noticed_and_rendered_again(command, small_book, tmp_path, cut):
    command(small_book, "--voice", "tone")
    folder = tmp_path / "output" / "small"
    before = digests(folder)
    take = sorted((folder / "takes").rglob("*.flac"))[2]
    take.write_bytes(take.read_bytes()[: int(take.stat().st_size * cut)])
    ran = command(small_book, "--voice", "tone")
    assert "1 takes on disk were damaged" in ran.err
    assert report_of(folder)["num_rendered"] == 1
    assert digests(folder) == before


def test_another_voice_renders_all(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    voice = write_voice(tmp_path, "{match: nothing of the kind, do: clip}")
    assert command(small_book, "--voice", voice).code == 0
    report = report_of(tmp_path / "output" / "small")
    assert (report["num_rendered"], report["num_reused"]) == (report["num_chunks"], 0)


def test_an_edited_sentence_renders_its_own_chunk_alone(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    small_book.write_text(small_book.read_text().replace("rained all night", "snowed all night"))
    command(small_book, "--voice", "tone")
    assert report_of(tmp_path / "output" / "small")["num_rendered"] == 1


@pytest.mark.parametrize(
    ("deed", "finding"),
    [("miss-eos", "a-002"), ("clip", "a-003"), ("silent", "a-004"), ("nan", "a-001"), ("short", "a-005")],
)
def test_a_refused_take_is_followed_by_the_next_attempt(command, small_book, tmp_path, deed, finding):
    voice = write_voice(tmp_path, f"{{match: river, do: {deed}, attempts: '0,1'}}")
    ran = command(small_book, "--voice", voice)
    assert ran.code == 0, ran.err
    folder = tmp_path / "output" / "small"
    assert report_of(folder)["num_refused"] == 2
    with closing(sqlite3.connect(folder / "ledger.sqlite")) as ledger:
        rows = ledger.execute("SELECT findings FROM outcomes WHERE kind = 'refused'").fetchall()
    assert [json.loads(row[0])[0]["id"] for row in rows] == [finding, finding]
    assert sum(name.endswith(".2.flac") for name in accepted_takes(folder)) == 1


def test_a_chunk_that_never_ends_is_split_and_its_parts_become_one(command, small_book, tmp_path):
    """The fault needs both sentences in one chunk, so that either part renders."""
    voice = write_voice(tmp_path, "{match: 'night. In the', do: miss-eos}")
    ran = command(small_book, "--voice", voice)
    assert ran.code == 0, ran.err
    folder = tmp_path / "output" / "small"
    report = report_of(folder)
    assert (report["num_refused"], report["missing"]) == (3, [])
    assert report["num_rendered"] == report["num_chunks"] + 1, "two parts in the place of one chunk"
    assert sum(name.endswith(".3.flac") for name in accepted_takes(folder)) == 1, "the composite"
    again = command(small_book, "--voice", voice)
    assert "takes rendered" not in again.out


def test_what_cannot_be_rendered_is_listed_and_the_book_is_made(command, small_book, tmp_path):
    voice = write_voice(tmp_path, "{match: river, do: miss-eos}")
    ran = command(small_book, "--voice", voice)
    assert ran.code == 6
    assert "In the morning the river had gone." in ran.out
    assert "no end of speech" in ran.out
    assert "redo" in ran.err
    folder = tmp_path / "output" / "small"
    assert (folder / "small.m4b").is_file()
    [missing] = report_of(folder)["missing"]
    assert missing["text"] == "It rained all night. In the morning the river had gone."
    assert missing["text"] in command("status", folder).out
    again = command(small_book, "--voice", voice)
    assert again.code == 6, "what is missing stays listed"


def test_an_exception_lists_its_chunk_and_no_other(command, small_book, tmp_path):
    ran = command(small_book, "--voice", write_voice(tmp_path, "{match: river, do: raise}"))
    assert ran.code == 6
    report = report_of(tmp_path / "output" / "small")
    assert [(m["reason"], m["chapter"]) for m in report["missing"]] == [("the tone was told to fail", 2)]
    assert report["num_rendered"] == report["num_chunks"] - 1


def test_redo_renders_the_next_attempt_of_one_chunk(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    folder = tmp_path / "output" / "small"
    before = digests(folder)
    plan = json.loads(command("plan", small_book, "--voice", "tone", "--json").out)
    chunk = plan["chapters"][1]["chunks"][0]["id"]
    ran = command("redo", folder, "--chunk", chunk[:10])
    assert ran.code == 0, ran.err
    assert report_of(folder)["num_rendered"] == 1
    after = digests(folder)
    assert after["001.flac"] == before["001.flac"]
    assert after["002.flac"] != before["002.flac"], "another attempt sounds different"
    assert "takes rendered" not in command(small_book, "--voice", "tone").out, "the redone take stays"


def test_redo_of_an_unknown_chunk_says_so(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    ran = command("redo", tmp_path / "output" / "small", "--chunk", "zzz")
    assert ran.code == 2
    assert "No chunk" in ran.err


def test_chosen_chapters_are_rendered_and_the_others_later(command, small_book, tmp_path):
    folder = tmp_path / "output" / "small"
    command(small_book, "--voice", "tone", "--chapters", "2")
    assert [*digests(folder)] == ["002.flac"]
    command(small_book, "--voice", "tone")
    assert [*digests(folder)] == ["001.flac", "002.flac"]
    report = report_of(folder)
    assert report["num_reused"] == 3


def test_status_tells_what_is_done_and_left(command, small_book, tmp_path):
    voice = write_voice(tmp_path, "{match: river, do: raise}")
    command(small_book, "--voice", voice)
    status = json.loads(command("status", tmp_path / "output" / "small", "--json").out)
    assert [(c["num_done"], c["num_chunks"]) for c in status["chapters"]] == [(4, 4), (2, 3)]
    assert status["holder"] == ""


def test_a_lexicon_says_how_words_are_said(command, small_book, tmp_path):
    lexicon = tmp_path / "lexicon.yaml"
    lexicon.write_text("river: rivver\n")
    plan = json.loads(command("plan", small_book, "--voice", "tone", "--lexicon", lexicon, "--json").out)
    assert "the rivver had gone" in plan["chapters"][1]["chunks"][1]["text"]


def test_numbers_are_spoken_in_the_plan(command, small_book):
    plan = json.loads(command("plan", small_book, "--voice", "tone", "--json").out)
    assert any("forty-two lamps" in chunk["text"] for chunk in plan["chapters"][0]["chunks"])


def test_a_profile_of_ones_own_need_only_hold_what_differs(command, small_book, tmp_path):
    (tmp_path / "slow.yaml").write_text("gaps_ms:\n  paragraph: 1234\n")
    plan = json.loads(command("plan", small_book, "--voice", "tone", "--config", "slow.yaml", "--json").out)
    pauses = {chunk["pause_after_ms"] for chapter in plan["chapters"] for chunk in chapter["chunks"]}
    assert pauses == {900, 1234, 1500, 2000}
