"""What breaks for people who make audiobooks, by the command: the small inputs of public trackers, in our own words.

Of the same list, elsewhere: speech without an end in a batch (`test_pocket_line.py`), chapters of 1,050 lines, twelve
and 300 chapters (`test_shapes.py`), kills and changes (`test_resume.py`, `test_kills.py`, `test_changes.py`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Ran, report_of, write_voice
from tests.manuscript.build import epub, nav, opf, page

Command = Callable[..., Ran]


def plan(command: Command, book: Path) -> dict[str, Any]:
    ran = command("plan", book, "--voice", "tone", "--json")
    assert ran.code == 0, ran.err
    made: dict[str, Any] = json.loads(ran.out)
    return made


def chunks(made: dict[str, Any]) -> list[dict[str, Any]]:
    return [chunk for chapter in made["chapters"] for chunk in chapter["chunks"]]


def said(made: dict[str, Any]) -> str:
    return " ".join(chunk["text"] for chunk in chunks(made))


def written(folder: Path, text: str) -> Path:
    path = folder / "book.txt"
    path.write_text(text)
    return path


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


CLAUSES = [
    f"it was {what}" for what in (
        "a year of great rain", "a year of no rain at all", "the month of weddings", "the month of funerals",
        "the week in which the bridge was opened", "the week in which the bridge fell", "a day for boats",
        "a day for staying in bed", "the hour of the bakers", "the hour of the burglars", "a minute too early",
        "a minute too late", "the price of bread that rose", "the price of wool that fell", "a mayor who slept",
        "a bishop who never did", "a king on every coin", "nobody on the notes", "all of them going up the hill",
        "all of them coming down again",
    )
]  # fmt: skip


@pytest.mark.parametrize("between", [", ", " "])
def test_a_sentence_of_a_hundred_words_is_said_whole_and_in_budget(command, tmp_path, between):
    sentence = between.join(CLAUSES) + "."
    assert len(words(sentence)) > 119 - 5
    made = plan(command, written(tmp_path, sentence[0].upper() + sentence[1:]))
    assert words(said(made)) == words(sentence)
    assert all(chunk["num_tokens"] < 50 for chunk in chunks(made))


def test_figures_that_never_end_are_noticed_and_leave_their_neighbours_alone(command, tmp_path):
    book = written(
        tmp_path, "The first line is here.\n\ntry: try 2222222222 try 333333333333 (try).\n\nThe last one is."
    )
    voice = write_voice(tmp_path, "{match: two, do: miss-eos}")
    ran = command(book, "--voice", voice)
    assert ran.code == 6
    missing = [item["text"] for item in report_of(tmp_path / "output" / "book")["missing"]]
    assert missing
    assert all("line" not in text and "last" not in text for text in missing)


def test_short_paragraphs_ride_with_a_neighbour_and_a_full_stop_is_not_said(command, tmp_path):
    text = "Chapter 1\n\nWait.\n\nYes.\n\nOh.\n\nNo!\n\n.\n\nThe door stayed shut for the rest of that day.\n"
    made = plan(command, written(tmp_path, text))
    body = [chunk["text"] for chunk in chunks(made)][1:]
    assert all(len(words(text)) >= 3 for text in body)
    assert words(" ".join(body)) == words("Wait Yes Oh No The door stayed shut for the rest of that day")
    assert "." in " ".join(made["chapters"][0]["unspoken"]) or [
        left for left in made["left_out"] if left["text"] == "."
    ]


def test_a_heading_of_roman_figures_is_said_as_a_number(command, tmp_path):
    book = epub(tmp_path, {"a.xhtml": page("<h1>I</h1><p>One day it was so.</p><h1>II</h1><p>Then it was not.</p>")})
    assert [chunk["text"].strip(".").lower() for chunk in chunks(plan(command, book))][::2] == ["one", "two"]


def test_the_spine_is_the_order_and_equal_titles_are_two_files(command, tmp_path):
    pages = {
        "nav.xhtml": nav(
            '<li><span>Part One</span><ol><li><a href="z.xhtml">Chapter 1</a></li></ol></li>'
            '<li><span>Part Two</span><ol><li><a href="a.xhtml">Chapter 1</a></li></ol></li>'
        ),
        "a.xhtml": page("<h1>Chapter 1</h1><p>This one comes last.</p>"),
        "note.xhtml": page("<p>A note beside the way.</p>"),
        "z.xhtml": page("<h1>Chapter 1</h1><p>This one comes first.</p>"),
    }
    package = opf(list(pages), spine=["z.xhtml", "note.xhtml", "a.xhtml"], linear={"note.xhtml": "no"})
    book = epub(tmp_path, pages, package=package)
    text = said(plan(command, book))
    assert text.index("comes first") < text.index("comes last")
    assert "note" not in text
    ran = command(book, "--voice", "tone", "--format", "flac")
    assert ran.code == 0, ran.err
    assert len([*(tmp_path / "output").glob("*/chapters/*.flac")]) == 2


def test_every_visible_word_is_said_once_and_in_order(command, tmp_path):
    body = (
        '<p>Alpha<img src="x.png"> beta</p>gamma&nbsp;delta<div>epsilon <p>zeta</p> eta</div>'
        "<ul><li><p>theta</p></li></ul><h5>iota</h5><blockquote>kappa</blockquote><table><tr><td>lambda</td><td>mu</td></tr></table><p>omega</p>"
    )
    text = said(plan(command, epub(tmp_path, {"a.xhtml": page(body)})))
    expected = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu omega"
    assert words(text) == expected.split()


def test_lines_without_stops_are_heard_apart_and_spans_together(command, tmp_path):
    body = (
        "<p>Chapter One</p><p>The Long Way Home</p><p>This is the way that nobody had ever gone.</p>"
        "<p><span>About the </span><span>Cravech</span> nothing was known at all.</p>"
    )
    made = plan(command, epub(tmp_path, {"a.xhtml": page(body)}))
    assert [chunk["text"] for chunk in chunks(made)][:2] == ["Chapter One", "The Long Way Home"]
    assert all(chunk["pause_after_ms"] >= 300 for chunk in chunks(made)[:2])
    assert "About the Cravech nothing" in said(made)


def test_notes_are_left_out_and_what_looks_like_them_is_not(command, tmp_path):
    body = (
        "<p>The robot R2D2 played an MP3<a epub:type='noteref' href='#n'>1</a> about H2O for 3.14 hours and $1,200, "
        "see [15].</p><aside epub:type='footnote' id='n'><p>1. Nobody heard it.</p></aside>"
    )
    text = said(plan(command, epub(tmp_path, {"a.xhtml": page(body)})))
    assert "Nobody" not in text
    assert "MP3 about" in text or "M P three about" in text or "MP three about" in text
    assert "three point one four hours" in text
    assert "one thousand two hundred dollars" in text
    assert re.search(r"see \[?fifteen\]?", text)


@pytest.mark.parametrize(
    ("was", "expected"),
    [
        ("It ran from 1931 to 1978.", "nineteen thirty-one to nineteen seventy-eight"),
        ("Nobody in the 1840s knew.", "the eighteen forties"),
        ("They dug up Ramesses II again.", "Ramesses the Second"),
        ("We met V. and Mi, and I ran.", "and Mi, and I ran"),
        ("Dr. Brown of St. Mary saw it.", "Doctor Brown of Saint Mary saw it"),
        ("He ate 2/3 of the cake.", "two thirds of the cake"),
        ("It cost $100 in all.", "one hundred dollars in all"),
        ("On the 24th it snowed.", "the twenty-fourth it snowed"),
    ],
)
def test_figures_and_titles_are_said_in_words(command, tmp_path, was, expected):
    made = plan(command, written(tmp_path, was))
    assert expected.lower() in said(made).lower()
    assert len(chunks(made)) == 1


def test_a_chapters_roman_figure_is_a_number(command, tmp_path):
    made = plan(
        command, written(tmp_path, "Chapter IV\n\nThe sea was grey that morning.\n\nChapter V\n\nIt cleared up.\n")
    )
    assert [chunk["text"].strip(".") for chunk in chunks(made)][::2] == ["Chapter four", "Chapter five"]
