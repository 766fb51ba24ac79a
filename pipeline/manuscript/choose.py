"""Which chapters are read: what the author says goes before what the reader decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.errors import UsageError
from pipeline.manuscript.book import Book, Chapter


def choose_chapters(
    book: Book, chosen: Sequence[int] | None = None, keep: Sequence[str] = (), drop: Sequence[str] = ()
) -> Book:
    """Read the chapters `chosen` by their numbers and no others; or all that are kept, and `keep`, but for `drop`.

    What is kept or dropped is named by number, by title, or by what it is ("index", "dedication"), in any case. A
    number is a title, "1984", only where no chapter has it.
    Raises `UsageError` for a name or a number that no chapter has, and for one that is both kept and dropped.
    """
    kept = {chapter.index for name in keep for chapter in _named(book, name, "--keep")}
    dropped = {chapter.index for name in drop for chapter in _named(book, name, "--drop")}
    if both := sorted(kept & dropped):
        raise UsageError(f"Chapter {both[0]} is in both --keep and --drop: leave it out of one of them.")
    if chosen is not None and (unknown := sorted(set(chosen) - {chapter.index for chapter in book.chapters})):
        raise UsageError(f"There is no chapter {unknown[0]}: {_known(book)}")

    def decide(chapter: Chapter) -> Chapter:
        if chapter.index in dropped:
            return replace(chapter, kept=False, reason="dropped by --drop")
        if chosen is not None and chapter.index not in (*chosen, *kept):
            return replace(chapter, kept=False, reason="not chosen")
        if chapter.index in kept or chosen is not None:
            return replace(chapter, kept=True, reason="")
        return chapter

    return replace(book, chapters=tuple(decide(chapter) for chapter in book.chapters))


def _named(book: Book, name: str, flag: str) -> list[Chapter]:
    wanted = " ".join(name.casefold().split())
    found = [chapter for chapter in book.chapters if wanted == str(chapter.index)] or [
        chapter for chapter in book.chapters if wanted in (chapter.title.casefold(), chapter.matter.casefold())
    ]
    if not wanted or not found:
        raise UsageError(f"{flag} {name!r} names no chapter by its number, its title or what it is: {_known(book)}")
    return found


def _known(book: Book) -> str:
    return f"the book has chapters 1 to {len(book.chapters)}, as `render-book plan` lists them."
