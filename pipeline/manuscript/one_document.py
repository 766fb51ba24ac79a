"""A manuscript that is one document, as a `Book`."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.manuscript.book import Book
from pipeline.manuscript.chapters import divide
from pipeline.manuscript.document import Document
from pipeline.manuscript.proof import check_reading
from pipeline.manuscript.reading import Reading


def make_book(
    document: Document,
    reading: Reading,
    *,
    title: str = "",
    authors: Sequence[str] = (),
    language: str = "",
    publisher: str = "",
    date: str = "",
) -> Book:
    """Divide a document at its headings. What is left out is that of the document after it was divided."""
    chapters = divide([document], reading=reading, title=title, authors=authors)
    book = Book(
        title=title,
        authors=tuple(authors),
        language=language,
        chapters=chapters,
        left_out=tuple(document.left_out),
        publisher=publisher,
        date=date,
        notes=tuple(document.faults),
    )
    check_reading(book, {document.file: document.source}, document.file)
    return book
