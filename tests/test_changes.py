"""What may change between two runs of a book, and what must then be so."""

from __future__ import annotations

import json
from pathlib import Path

import av

from tests.conftest import SMALL_BOOK, digests, write_voice


def first_chunk(folder: Path, text: str) -> str:
    script = json.loads((folder / "script.json").read_text())
    return next(chunk["id"] for c in script["chapters"] for chunk in c["chunks"] if text in chunk["text"])


def test_a_redo_that_fails_leaves_the_old_take_and_says_so(command, small_book, tmp_path):
    voice = write_voice(tmp_path, "{match: river, do: raise, attempts: '1'}")
    command(small_book, "--voice", voice)
    folder = tmp_path / "output" / "small"
    before = digests(folder)
    ran = command("redo", folder, "--chunk", first_chunk(folder, "river"))
    assert ran.code == 0, ran.err
    assert "the take from before stays" in ran.out
    assert digests(folder) == before
    assert command(small_book, "--voice", voice).code == 0


def test_a_chunk_named_twice_is_redone_once_and_a_bare_redo_goes_on(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    folder = tmp_path / "output" / "small"
    chunk = first_chunk(folder, "river")
    command("redo", folder, "--chunk", chunk, "--chunk", chunk[:8])
    assert [*(folder / "takes").rglob(f"{chunk}.1.flac")]
    assert "takes rendered" not in command("redo", folder).out


def test_a_judge_that_asks_less_accepts_what_was_refused(command, small_book, tmp_path):
    voice = write_voice(tmp_path, "{match: river, do: clip}")
    assert command(small_book, "--voice", voice).code == 6
    (tmp_path / "mild.yaml").write_text("judge:\n  max_clipped_share: 1.0\n")
    assert command(small_book, "--voice", voice, "--config", "mild.yaml").code == 0
    fresh = command(small_book, "--voice", voice, "--config", "mild.yaml", "--output", "fresh")
    assert fresh.code == 0
    assert digests(tmp_path / "output" / "small") == digests(tmp_path / "fresh")


def test_another_profile_masters_anew_as_if_it_had_been_there_from_the_start(command, small_book, tmp_path):
    command(small_book, "--voice", "tone", "--output", "out")
    (tmp_path / "other.yaml").write_text("gaps_ms:\n  paragraph: 1000\nmaster:\n  trim_below_dbfs: -20\n")
    ran = command(small_book, "--voice", "tone", "--config", "other.yaml", "--output", "out")
    assert "takes rendered" not in ran.out
    command(small_book, "--voice", "tone", "--config", "other.yaml", "--output", "fresh")
    assert digests(tmp_path / "out") == digests(tmp_path / "fresh")


def test_some_chapters_never_take_the_place_of_the_whole_book(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    folder = tmp_path / "output" / "small"
    whole = (folder / "small.m4b").read_bytes()
    ran = command(small_book, "--voice", "tone", "--chapters", "2")
    assert ran.out.startswith("output/small/small (2).m4b\n")
    with av.open(str(folder / "small (2).m4b")) as container:
        assert len(container.chapters()) == 1
    assert (folder / "small.m4b").read_bytes() == whole


def test_a_book_that_got_shorter_leaves_no_old_chapter_behind(command, small_book, tmp_path):
    command(small_book, "--voice", "tone")
    small_book.write_text(SMALL_BOOK[: SMALL_BOOK.index("Chapter 2")])
    command(small_book, "--voice", "tone")
    assert [*digests(tmp_path / "output" / "small")] == ["001.flac"]


def test_another_manuscript_of_the_same_name_is_refused(command, small_book, tmp_path):
    command(small_book, "--voice", "tone", "--output", "out")
    other = tmp_path / "elsewhere" / "small.txt"
    other.parent.mkdir()
    other.write_text("Another text entirely. It is short.")
    ran = command(other, "--voice", "tone", "--output", "out")
    assert (ran.code, "holds another book" in ran.err) == (2, True)
    small_book.rename(tmp_path / "elsewhere" / "small.txt")
    assert command(other, "--voice", "tone", "--output", "out").code == 0, "a book that was moved is the same"


def test_a_book_that_was_submitted_to_ray_goes_on_from_the_original(command, small_book, tmp_path):
    copy = tmp_path / "session" / "runtime_resources" / "working_dir_files" / "_ray_pkg_1" / small_book.name
    copy.parent.mkdir(parents=True)
    copy.write_text(SMALL_BOOK)
    command(copy, "--voice", "tone", "--output", "out")
    ran = command(small_book, "--voice", "tone", "--output", "out")
    assert (ran.code, "already there" in ran.out) == (0, True), ran.err


def test_only_our_own_leftovers_are_removed(command, small_book, tmp_path):
    foreign = tmp_path / "out" / "Downloads" / ".film.part"
    ours = tmp_path / "out" / "takes" / "ab" / ".abc.0.flac.part"
    for path in (foreign, ours):
        path.parent.mkdir(parents=True)
        path.touch()
    command(small_book, "--voice", "tone", "--output", "out")
    assert (foreign.exists(), ours.exists()) == (True, False)


def test_a_voice_that_may_not_be_sold_says_so(command, small_book, tmp_path):
    voice = write_voice(tmp_path)
    voice.write_text(voice.read_text().replace("CC0-1.0", "CC-BY-NC-4.0"))
    assert "may not be sold" in command(small_book, "--voice", voice).err
