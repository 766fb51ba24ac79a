"""What the author wrote: reads EPUB, Word, text, Markdown and HTML into a `Book`. Knows no engine and no voice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.manuscript.book import Book
    from pipeline.manuscript.reading import Reading

__all__ = ["read_manuscript"]


def read_manuscript(path: Path, reading: Reading | None = None) -> Book:
    """Read a manuscript: `.epub`, `.docx`, `.txt`, `.text`, `.md`, `.markdown`, `.html`, `.htm` or `.xhtml`.

    Raises `ManuscriptError` when it is missing, empty, protected, unsafe, or not what its name says.
    """
    # lxml is loaded with the first manuscript, not with the package.
    from pipeline.manuscript.read import read
    from pipeline.manuscript.reading import Reading

    return read(path, reading or Reading())
