"""A script that loses, doubles or changes a word of its book is found out; and the account adds up."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.errors import UnaccountedError
from pipeline.manuscript.book import Kind
from pipeline.manuscript.proof import visible
from pipeline.script.proof import account, check_script
from pipeline.script.script import Script, ScriptChapter

from .test_splitter import any_text, block, book_of, script_of

TEXT = "It was 6:30. Mr. Hall came in—late, and “sorry” for it; nobody had waited for him, or kept anything warm."


def with_chapter(script: Script, **changes: object) -> Script:
    chapter: ScriptChapter = replace(script.chapters[0], **changes)
    return replace(script, chapters=(chapter,))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda script, first: with_chapter(script, chunks=script.chunks[1:]), "is in no chunk"),
        (lambda script, first: with_chapter(script, chunks=(*script.chunks, first)), "is in no chunk, or in two"),
        (lambda script, first: with_chapter(script, rewritings=((),)), "isn't what its rewritings make of it"),
        (
            lambda script, first: with_chapter(
                script, chunks=(replace(first, text=first.text.replace("Hall", "Hull")), *script.chunks[1:])
            ),
            "became",
        ),
    ],
)
def test_what_is_lost_doubled_or_changed_is_said_with_its_chapter(spoil, said):
    script = script_of(TEXT)
    check_script(book_of(TEXT), script)
    with pytest.raises(UnaccountedError, match=re.escape(said)) as raised:
        check_script(book_of(TEXT), spoil(script, script.chunks[0]))
    assert "chapter 1 (One)" in str(raised.value)


@settings(max_examples=200, deadline=None)
@given(st.lists(any_text.map(lambda text: " ".join(text.split())), max_size=4))
def test_any_book_is_accounted_for(texts: list[str]) -> None:
    script = script_of(*texts)
    check_script(book_of(*texts), script)
    if script.chapters[0].kept:
        assert account(book_of(*texts), script).total == sum(len(text.replace(" ", "")) for text in texts)


def test_the_account_says_where_every_character_went():
    item = replace(block(Kind.LIST_ITEM, "1. Milk"), added=((0, 3),))
    counted = account(book_of(TEXT, item, "—"), script_of(TEXT, item, "—"))
    assert counted.rewritten["title"] == len("Mr.")
    assert counted.rewritten["time"] == len("6:30")
    assert counted.paused == 1
    assert counted.total == len(visible(TEXT + "Milk" + "—"))


def test_the_command_prints_both_lists(command, tmp_path):
    book = tmp_path / "book.txt"
    book.write_text(f"Chapter 1\n\n{TEXT} Zorblax saw it.\n\n* * *\n\nThe end of it all.\n")
    proof = command("plan", book, "--voice", "tone", "--proof")
    assert proof.code == 0, proof.err
    total, *parts = [int(line.split()[0]) for line in proof.out.splitlines()]
    assert total == sum(parts) == len(visible(book.read_text()))
    assert "3  left out: scene break, heard as a pause" in proof.out
    spoken = command("plan", book, "--voice", "tone", "--spoken").out
    assert "1 x 'Mr.' -> 'Mister'" in spoken
    assert "1 x '6:30' -> 'six thirty'" in spoken
    assert "  Zorblax\n" in spoken
    lexicon = tmp_path / "names.yaml"
    lexicon.write_text("Zorblax: Zor Blacks\n")
    again = command("plan", book, "--voice", "tone", "--spoken", "--lexicon", lexicon).out
    assert "1 x 'Zorblax' -> 'Zor Blacks'" in again
    assert "  Zorblax\n" not in again


def test_lists_that_exclude_each_other_are_refused_in_a_sentence(command, small_book, tmp_path):
    assert command("plan", small_book, "--voice", "tone", "--json", "--proof").code == 2
    job = tmp_path / "job.yaml"
    job.write_text(f"books: [{{source: {small_book}, voice: tone}}]\n")
    ran = command("plan", job, "--spoken")
    assert ran.code == 2
    assert "of one book" in ran.err
