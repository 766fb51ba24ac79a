"""`--keep` and `--drop`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.choose import choose_chapters


@pytest.mark.parametrize(
    ("name", "left"), [("3", ["2", "3", "b"]), ("2", ["2", "1984", "b"]), ("1984", ["2", "3", "b"])]
)
def test_a_number_is_a_title_only_where_no_chapter_has_it(tmp_path: Path, name: str, left: list[str]) -> None:
    path = tmp_path / "book.md"
    path.write_text("".join(f"# {title}\n\nIt rained.\n\n" for title in ("2", "3", "1984", "b")))
    book = choose_chapters(read_manuscript(path), drop=[name])
    assert [chapter.title for chapter in book.chapters if chapter.kept] == left
