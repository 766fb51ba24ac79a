"""Lexicons in books: whose word counts, what `plan` says of them, and which chunks a changed entry renders again."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pipeline.job import BookJob
from pipeline.manifest import read_manifest
from pipeline.plan import Plan, make_plan
from pipeline.script.script import Chunk

TEXT = """Chapter 1

The lamp was lit at six by Cravech. Nobody in the whole of the harbour town had seen it.

They walked on for an hour, and nobody said a word.

Chapter 2

It rained all night over the river, and over the hills behind it.

Chapter 3

In the morning Cravech had gone, and the river with him. The old bridge stood in dry sand.

They never spoke of it again, not even when they were old.
"""


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "one.txt"
    path.write_text(TEXT)
    return path


def plan(book: Path, *lexicons: str) -> Plan:
    """With each lexicon as a file of its own, the farthest first."""
    paths = []
    for number, lexicon in enumerate(lexicons):
        paths.append(book.parent / f"{number}.yaml")
        paths[-1].write_text(lexicon)
    return make_plan(BookJob(book, voice="tone", lexicons=tuple(paths)))


def changed(before: Plan, after: Plan) -> tuple[list[Chunk], list[Chunk]]:
    """The chunks of either plan that the other doesn't have."""
    keys = {chunk.key for chunk in before.script.chunks}, {chunk.key for chunk in after.script.chunks}
    gone = [chunk for chunk in before.script.chunks if chunk.key not in keys[1]]
    return gone, [chunk for chunk in after.script.chunks if chunk.key not in keys[0]]


def test_a_changed_entry_renders_the_chunks_in_which_its_word_stands(book: Path) -> None:
    before, after = plan(book, "Cravech: Kravvek\nhills: hilz\n"), plan(book, "Cravech: Krawek\nhills: hilz\n")
    gone, new = changed(before, after)
    assert len(gone) == len(new) == 2
    assert all("Kravvek" in chunk.text for chunk in gone)
    assert [chunk.text for chunk in new] == [chunk.text.replace("Kravvek", "Krawek") for chunk in gone]
    assert len(before.script.chunks) > 6, "most chunks are left"


def test_an_entry_for_nothing_renders_nothing(book: Path) -> None:
    assert changed(plan(book, "Cravech: Kravvek\n"), plan(book, "Cravech: Kravvek\nnowhere: x\n")) == ([], [])


def test_a_word_that_moves_a_boundary_renders_its_paragraph_at_most(tmp_path: Path) -> None:
    """A respelling so long that a chunk is full earlier: what comes after it in the paragraph is cut elsewhere."""
    sentence = "The old bridge over the river stood there in the sand for {} more years. "
    first = "Cravech came. " + "".join(sentence.format(year) for year in ("two", "three", "four", "five", "six"))
    last = "".join(sentence.format(year) for year in ("seven", "eight", "nine", "ten", "eleven"))
    book = tmp_path / "one.txt"
    book.write_text(
        f"Chapter 1\n\n{last}\n\n{first}\n\n{last.replace('old', 'new')}\n\nChapter 2\n\nIt rained again.\n"
    )
    before, after = plan(book, "Cravech: Krav\n"), plan(book, f"Cravech: {'krav vek ' * 12}\n")
    gone, new = changed(before, after)
    assert len(gone) > 1 or len(new) > 1, "the boundary has moved"
    for made, chunks in ((before, gone), (after, new)):
        number = next(i for i, text in enumerate(made.script.chapters[0].spoken) if text.startswith("Krav"))
        assert {span.block for chunk in chunks for span in chunk.spans} == {number}
    texts = Counter(chunk.text for chunk in before.script.chunks) - Counter(chunk.text for chunk in gone)
    assert sum(texts.values()) > 5


def test_the_nearer_level_has_the_last_word(tmp_path: Path, book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("lamp: own\nriver: own\nbridge: own\n")
    (tmp_path / "series.yaml").write_text("lamp: series\nriver: series\n")
    (tmp_path / "far.yaml").write_text("lamp: far\n")
    (tmp_path / "near.yaml").write_text("lamp: near\n")
    monkeypatch.setenv("RENDER_BOOK_LEXICON", str(own))
    manifest = tmp_path / "night.yaml"
    manifest.write_text("""
defaults: {voice: tone, lexicons: series.yaml}
books:
  - {source: one.txt, lexicons: [far.yaml, near.yaml]}
  - {source: one.txt, output: 1}
  - {source: one.txt, output: 2, lexicons: []}
  - {source: one.txt, output: 3, user_lexicon: no, lexicons: near.yaml}
  - {source: one.txt, output: 4, lexicons: [series.yaml, near.yaml]}
""")

    def words(job: BookJob) -> tuple[str, ...]:
        text = " ".join(chunk.text for chunk in make_plan(job).script.chunks)
        return tuple(
            text.split(before)[1].split()[0].strip(".,") for before in ("The ", "with him. The old ", "and the ")
        )

    jobs = read_manifest(manifest).books
    assert [words(job) for job in jobs] == [
        ("near", "own", "series"),
        ("series", "own", "series"),
        ("own", "own", "own"),
        ("near", "bridge", "series"),
        ("near", "own", "series"),
    ]
    assert [len(job.lexicons) for job in jobs] == [4, 2, 1, 2, 3]
    # Ray's machines have no home of the user's.
    manifest.write_text(f"output: {tmp_path}/out\nbooks: [{{source: one.txt}}]\n")
    assert read_manifest(manifest, is_submitted=True).books[0].lexicons == ()


def test_plan_names_the_users_own_lexicon_and_what_is_not_used(command, book, tmp_path, monkeypatch):
    own = tmp_path / "own.yaml"
    own.write_text("Cravech: Kravvek\n" + "".join(f"word{number}: x\n" for number in range(7)))
    monkeypatch.setenv("RENDER_BOOK_LEXICON", str(own))
    said = command("plan", book, "--voice", "tone").out
    assert f"lexicon {own} (your own: --no-user-lexicon leaves it out" in said
    assert "1 of 8 words are in the book; not 'word0' (line 2), 'word1' (line 3)" in said
    assert "and 2 more" in said
    planned = json.loads(command("plan", book, "--voice", "tone", "--json").out)
    assert planned["unused_words"] == [{"word": f"word{i}", "place": f"{own}:{i + 2}"} for i in range(7)]
    assert "Kravvek" in json.dumps(planned["chapters"])
    without = command("plan", book, "--voice", "tone", "--no-user-lexicon").out
    assert "lexicon" not in without
    monkeypatch.setenv("RAY_JOB_CONFIG_JSON_ENV_VAR", "{}")
    assert command("plan", book, "--voice", "tone").out == without


def test_faults_of_the_users_own_lexicon_are_told(command, book, tmp_path, monkeypatch):
    own = tmp_path / "own.yaml"
    own.write_text("Cravech:\n")
    monkeypatch.setenv("RENDER_BOOK_LEXICON", str(own))
    (tmp_path / "night.yaml").write_text("books: [{source: one.txt, voice: tone}]\n")
    for words in ((book, "--voice", "tone"), ("night.yaml",)):
        ran = command("plan", *words)
        assert (ran.code, ran.err) == (4, f"{own}:1: the respelling of 'Cravech' must be a string that isn't empty\n")


def test_redo_finds_the_users_own_lexicon(command, book, tmp_path, monkeypatch):
    own = tmp_path / "own.yaml"
    own.write_text("Cravech: Kravvek\n")
    monkeypatch.setenv("RENDER_BOOK_LEXICON", str(own))
    assert command(book, "--voice", "tone", "--output", "out", "--format", "flac", "--workers", "1").code == 0
    monkeypatch.setenv("RENDER_BOOK_LEXICON", "")
    script = json.loads((tmp_path / "out" / "script.json").read_text())
    ids = [chunk["id"] for chapter in script["chapters"] for chunk in chapter["chunks"] if "Kravvek" in chunk["text"]]
    assert command("redo", "out", "--chunk", ids[0], "--workers", "1").code == 0


def test_what_this_engine_or_machine_does_not_know_is_told(command, book, tmp_path):
    names = tmp_path / "names.yaml"
    names.write_text("lamp: {ipa: læmp}\nCravech: {say: x, voices: nobody}\n")
    said = command("plan", book, "--voice", "tone", "--lexicon", names).out
    assert f"lexicon {names}: 'lamp' (line 1) not used: tone takes no ipa" in said
    assert f"{names}:2: no voice here is called 'nobody'" in said
    names.write_text("lamp: {say: x, engines: [toned]}\n")
    ran = command("plan", book, "--voice", "tone", "--lexicon", names)
    assert ran.code == 4
    assert f"{names}:1: there is no engine 'toned'" in ran.err
