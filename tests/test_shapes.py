"""Books of awkward shapes: nothing dropped, numeric order, a valid m4b whatever the titles hold."""

from __future__ import annotations

import html
import json
from itertools import pairwise
from pathlib import Path

import av
import pytest

from tests.manuscript.build import epub, lines, nav, opf, page

TITLES = [
    "Quotes \" and “curly” and 'single'",
    "=;#\\",
    "a/b\\c",
    "two\nlines",
    "🙂 emoji 👩‍👩‍👧",
    "x" * 300,
    "<b>&amp;</b>",
    "Chapter 1",
    "Chapter 1",
]


def book_of(folder: Path, chapters: list[tuple[str, str]], title: str = "A Book") -> Path:
    """An EPUB with a page and a nav entry for each (title, body)."""
    names = [f"c{number}.xhtml" for number in range(len(chapters))]
    pages = {name: page(body) for name, (_, body) in zip(names, chapters, strict=True)}
    toc = lines(*((html.escape(entry), name) for name, (entry, _) in zip(names, chapters, strict=True)))
    metadata = f"<dc:title>{html.escape(title)}</dc:title><dc:language>en</dc:language>"
    pages = {"nav.xhtml": nav(toc), **pages}
    return epub(folder, pages, package=opf([*pages], metadata=metadata))


def marks(path: Path) -> tuple[list[tuple[str, float, float]], float]:
    """Title, start and end of each chapter mark in seconds, and the length of the audio, decoded to its end."""
    with av.open(str(path)) as container:
        found = [
            (m["metadata"]["title"], float(m["start"] * m["time_base"]), float(m["end"] * m["time_base"]))
            for m in container.chapters()
        ]
        rate = container.streams.audio[0].rate
        num_samples = sum(frame.samples for frame in container.decode(audio=0))
    return found, num_samples / rate


def render(command, path: Path, folder: Path) -> tuple[dict, Path]:
    ran = command(path, "--voice", "tone", "--workers", 1, "--output", folder)
    assert ran.code == 0, ran.err
    plan = json.loads((folder / "script.json").read_text())
    [m4b] = folder.glob("*.m4b")
    return plan, m4b


def assert_marks_add_up(plan: dict, m4b: Path) -> list[tuple[str, float, float]]:
    found, seconds = marks(m4b)
    kept = [chapter for chapter in plan["chapters"] if chapter["kept"]]
    assert [title for title, _, _ in found] == [" ".join(chapter["title"].split()) for chapter in kept]
    assert found[0][1] == 0
    for (_, _, end), (_, start, _) in pairwise(found):
        assert start == end
    assert found[-1][2] == pytest.approx(seconds, abs=2 * 1024 / 24_000)
    return found


def test_a_chapter_of_1050_one_line_sentences(command, tmp_path):
    body = "<h1>Many</h1>" + "".join(f"<p>This is the line called {word(n)} here.</p>" for n in range(1050))
    plan, m4b = render(command, book_of(tmp_path, [("Many", body)]), tmp_path / "out")
    said = " ".join(chunk["text"] for chunk in plan["chapters"][0]["chunks"])
    for n in range(1050):
        assert said.count(f"called {word(n)} here") == 1
    assert_marks_add_up(plan, m4b)


def word(number: int) -> str:
    """A word of its own for each number, made of letters alone."""
    return "w" + "".join(chr(ord("a") + int(digit)) for digit in str(number))


def test_twelve_chapters_are_in_numeric_order(command, tmp_path):
    chapters = [(f"Chapter {n}", f"<h1>Chapter {n}</h1><p>Here is {word(n)} now.</p>") for n in range(1, 13)]
    plan, m4b = render(command, book_of(tmp_path, chapters), tmp_path / "out")
    assert [c["title"] for c in plan["chapters"]] == [f"Chapter {n}" for n in range(1, 13)]
    assert [file.name for file in sorted((tmp_path / "out" / "chapters").glob("*.flac"))] == [
        f"{n:03}.flac" for n in range(1, 13)
    ]
    assert_marks_add_up(plan, m4b)


@pytest.mark.slow
def test_300_chapters(command, tmp_path):
    chapters = [(f"Part {n}", f"<h1>Part {n}</h1><p>Here is {word(n)} now.</p>") for n in range(300)]
    plan, m4b = render(command, book_of(tmp_path, chapters), tmp_path / "out")
    assert len(assert_marks_add_up(plan, m4b)) == 300


def test_empty_and_image_only_chapters_are_left_out_with_a_reason(command, tmp_path):
    chapters = [
        ("One", "<h1>One</h1><p>Here is one now.</p>"),
        ("Empty", ""),
        ("Picture", '<img src="a.png" alt="a picture"/>'),
        ("Two", "<h1>Two</h1><p>Here is two now.</p>"),
    ]
    plan, m4b = render(command, book_of(tmp_path, chapters), tmp_path / "out")
    assert [c["kept"] for c in plan["chapters"]] == [True, False, False, True]
    assert all(c["reason"] for c in plan["chapters"] if not c["kept"])
    assert [title for title, _, _ in assert_marks_add_up(plan, m4b)] == ["One", "Two"]


def test_titles_of_any_characters(command, tmp_path):
    chapters = [(title, f"<p>Here is {word(n)} now.</p>") for n, title in enumerate(TITLES)]
    plan, m4b = render(command, book_of(tmp_path, chapters, title='A "book" / with: any? title\\'), tmp_path / "out")
    assert len(plan["chapters"]) == len(TITLES), "two chapters of one title are two"
    assert_marks_add_up(plan, m4b)
    assert m4b.name == "A book with any title.m4b".replace('"', "")
