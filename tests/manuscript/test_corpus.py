"""The corpus beside the project, where it is at hand: `../shared/corpus` from the root."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import ManuscriptError
from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book, Kind
from pipeline.manuscript.encoding import decode_text
from pipeline.manuscript.prose import clean
from pipeline.manuscript.reading import Notes, Reading

from .build import all_blocks
from .cover import check_cover
from .spans import check_book

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
EPUB = CORPUS / "epub"

pytestmark = pytest.mark.skipif(not EPUB.is_dir(), reason="the corpus is not beside the project")


def files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in CORPUS.glob(pattern))


def made() -> list[Any]:
    path = EPUB / "made.json"
    rows = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return [pytest.param(row["file"], row["expect"], id=Path(row["file"]).stem) for row in rows]


def read_or_refusal(path: Path) -> Book | None:
    """The book, or None when it is refused: in one sentence that names the file."""
    try:
        return read_manuscript(path)
    except ManuscriptError as error:
        message = str(error)
    assert path.name in message
    assert message.endswith(".")
    assert "\n" not in message
    return None


def _letters(text: str) -> str:
    return "".join(char for char in clean(text) if char.isalnum())


@pytest.mark.parametrize("path", files("epub/*/*.epub", "other/*/*"), ids=lambda path: path.name)
def test_everything_is_read_or_refused(path: Path) -> None:
    book = read_or_refusal(path)
    if book is None:
        return
    assert [chapter.index for chapter in book.chapters] == list(range(1, len(book.chapters) + 1))
    for chapter in book.chapters:
        assert chapter.title == " ".join(chapter.title.split()) != ""
        assert chapter.kept == (not chapter.reason)
        assert not chapter.kept or any(block.text for block in chapter.blocks)


@pytest.mark.parametrize("notes", ["skip", "inline", "end"])
@pytest.mark.parametrize("path", files("epub/*/*.epub"), ids=lambda path: path.name)
def test_every_character_of_a_book_is_accounted_for_once(path: Path, notes: Notes) -> None:
    """In all text files of the EPUB manifest, in the spine or not."""
    try:
        book = read_manuscript(path, Reading(notes=notes))
    except ManuscriptError:
        return
    check_book(book, path)


@pytest.mark.parametrize("path", files("other/txt/*.txt"), ids=lambda path: path.name)
def test_no_word_of_a_text_is_lost(path: Path) -> None:
    book = read_or_refusal(path)
    if book is not None:
        check_cover(decode_text(path.read_bytes()), book)


@pytest.mark.parametrize("path", files("epub/toc/*.json"), ids=lambda path: path.stem)
def test_chapters_of_real_books(path: Path) -> None:
    """The places of the contents, in reading order, but for what docs/decisions/0014-chapters.md says of them."""
    oracle = json.loads(path.read_text(encoding="utf-8"))
    book = read_or_refusal(EPUB / "real" / path.stem)
    if book is None:
        assert path.stem.startswith("drm_")
        return
    assert book.title == " ".join(oracle["title"][0].split())
    assert list(book.authors) == [" ".join(name.split()) for name in oracle["creator"]]
    spine = [name for name, is_linear in oracle["spine"] if is_linear]
    entries = [(depth, " ".join(title.split()), href.partition("#")[0]) for depth, title, href in oracle["toc"] if href]
    entries = [entry for entry in entries if entry[2] in spine]
    entries.sort(key=lambda entry: spine.index(entry[2]))
    parts = [entry[1] for entry, after in itertools.pairwise(entries) if after[0] > entry[0]]
    listed = [title for _, title, _ in entries]
    titles = [chapter.title for chapter in book.chapters]
    # A part that is only its title is read at the head of its first chapter.
    joined = [title for title in listed if title not in titles]
    assert set(joined) <= set(parts)
    for title in joined:
        after = book.chapters[titles.index(listed[listed.index(title) + 1])]
        heads = list(itertools.takewhile(lambda block: block.kind is Kind.HEADING, after.blocks))
        assert _letters(heads[0].text)[:4].casefold() in _letters(title).casefold()
    # What stands before the first that the contents list is a chapter, and front or back matter in files of its own.
    files = {name for _, _, name in entries}
    for index, chapter in enumerate(book.chapters):
        is_front = not set(titles[:index]) & set(listed)
        assert chapter.title in listed or is_front or not {block.span.file for block in chapter.blocks} & files
    assert [title for title in titles if title in listed] == [title for title in listed if title not in joined]


@pytest.mark.parametrize(("name", "expect"), made())
def test_books_made_to_break_a_reader(name: str, expect: dict[str, Any]) -> None:
    if expect.get("refuse"):
        with pytest.raises(ManuscriptError, match=expect["refuse"]):
            read_manuscript(EPUB / name)
        return
    book = read_manuscript(EPUB / name)
    kept = [chapter for chapter in book.chapters if chapter.kept]
    text = "\n".join(block.text for block in all_blocks(book))  # blocks stand apart
    if "chapters" in expect:
        assert [chapter.title for chapter in kept] == expect["chapters"]
    if "chapters_count" in expect:
        assert len(kept) == expect["chapters_count"]
    if "spoken_chapters_either" in expect:
        assert len(kept) in expect["spoken_chapters_either"]
    if "chapters_count_either" in expect:
        assert len(kept) in expect["chapters_count_either"]
    if "chars" in expect:
        assert len(text) == pytest.approx(expect["chars"], rel=0.01)
    for either in expect.get("must_contain", []) + expect.get("main_must_contain", []):
        assert any(words in text for words in either.split("|"))
    for words in expect.get("must_not_contain", []) + expect.get("main_must_not_contain", []):
        assert words not in text
