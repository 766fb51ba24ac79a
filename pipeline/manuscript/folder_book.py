"""A folder of manuscripts to one `Book`: its files as people count them, each one's chapters in turn."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from pipeline.errors import ManuscriptError
from pipeline.manuscript.archive import show
from pipeline.manuscript.book import Block, Book, Chapter, Cover, Kind, LeftOut, Span
from pipeline.manuscript.prose import clean
from pipeline.manuscript.unread import advise

_FRONT = ("cover", "half title", "title page", "title", "copyright", "dedication", "epigraph", "contents", "foreword",
          "preface", "introduction", "prologue")  # fmt: skip
_BACK = ("epilogue", "afterword", "conclusion", "appendix", "notes", "glossary", "bibliography", "index",
         "acknowledgements", "acknowledgments", "about the author", "colophon")  # fmt: skip
_WHOLE_NAMES = frozenset(["cover", "title", "contents", "conclusion", "notes", "index"])
"""Words that many a chapter's title begins with."""
_COVERS = re.compile(r"(?:cover|front|folder)\.(?:jpe?g|png)", re.IGNORECASE)
_TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\W\d_]+")
_ROMAN = re.compile(r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", re.IGNORECASE)
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_NUMBERED = frozenset(["chapter", "chap", "ch", "part", "book", "volume", "act", "scene"])
# fmt: off
_UNITS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_WORDS = {word: number for number, word in enumerate(_UNITS)} | {word: 10 * n for n, word in enumerate(_TENS, start=2)}
_ORDER_PREFIX = re.compile(r"\A\d+(?:\.\d+)*[\s._)–—-]*(?=\S)")


def check_folder(folder: Path, suffixes: Collection[str]) -> None:
    """Raises `ManuscriptError` when a folder has nothing to read, or something that should be and can't."""
    find_files(folder, suffixes)


def find_files(folder: Path, suffixes: Collection[str]) -> tuple[list[Path], list[Path]]:
    """The manuscripts of a folder in reading order, and what else is in it. What lies in folders below isn't read.

    Names count as people count: 2 before 10, "Two" before "Three", IV before V. What has no number and is called a
    prologue or the like comes first, an epilogue or the like last. Raises `ManuscriptError`.
    """
    real = folder.resolve()
    files, others = [], []
    for path in sorted(folder.iterdir()):
        suffix = path.suffix.lower()
        if _is_hidden(path) or path.is_dir():
            others.append(path)
        elif suffix in suffixes:
            if path.is_symlink() and real not in path.resolve().parents:
                raise ManuscriptError(f"{path} is a link that leads out of the folder; put the file itself there.")
            files.append(path)
        elif advice := advise(path, suffix):
            raise ManuscriptError(f"{path} {advice}, or take it out of the folder.")
        else:
            others.append(path)
    if not files:
        raise ManuscriptError(
            f"{folder} has no manuscript in it; put the files of the book there, or name another folder."
        )
    is_roman = all(_ROMAN.fullmatch(path.stem) for path in files)
    files.sort(key=lambda path: _reading_order(path, is_roman))
    by_stem: dict[str, Path] = {}
    for path in files:
        first = by_stem.setdefault(path.stem.casefold(), path)
        if first != path:
            raise ManuscriptError(
                f"{folder} has {show(first.name)} and {show(path.name)}, which may be one text in two formats; "
                "keep one of them, or give the other another name."
            )
    return files, others


def _is_hidden(path: Path) -> bool:
    return path.name.startswith((".", "~$")) or path.name.lower() in ("thumbs.db", "desktop.ini")


def _reading_order(path: Path, is_roman: bool) -> tuple[int, list[tuple[int, tuple[int, ...], str]], str]:
    """A sort key: front matter, the body, back matter; within them numbers by their value, before words."""
    tokens = [token.casefold() for token in _TOKEN.findall(path.stem)]
    key: list[tuple[int, tuple[int, ...], str]] = []
    i = 0
    while i < len(tokens):
        number, width = _number(tokens, i, is_roman)
        key.append((0, number, "") if width else (1, (), tokens[i]))
        i += max(width, 1)
    for rank, names in ((0, _FRONT), (2, _BACK)):
        if (place := _find_matter(tokens, names)) is not None:
            return rank, [(0, (place,), ""), *key], path.name
    return 1, key, path.name


def _find_matter(tokens: list[str], names: tuple[str, ...]) -> int | None:
    """The place of a name in `names` that a file's begins with: "The Prologue", "Foreword by Ann"."""
    words = tokens[1:] if tokens[:1] == ["the"] else tokens
    for place, name in enumerate(names):
        parts = name.split()
        if words[: len(parts)] == parts and (name not in _WHOLE_NAMES or words[len(parts) :] in ([], ["page"])):
            return place
    return None


def _number(tokens: list[str], i: int, is_roman: bool) -> tuple[tuple[int, ...], int]:
    """The number that stands at a token, 1.5 as (1, 5), and of how many tokens it is made; 0 of them where none is."""
    token = tokens[i]
    if token[0].isdecimal():
        return tuple(int(part[:18]) for part in token.split(".")), 1
    if token in _WORDS:
        value = _WORDS[token]
        after = tokens[i + 1] if i + 1 < len(tokens) else ""
        return ((value + _WORDS[after],), 2) if value >= 20 and 0 < _WORDS.get(after, 0) < 10 else ((value,), 1)
    if (is_roman or (i > 0 and tokens[i - 1] in _NUMBERED)) and _ROMAN.fullmatch(token):
        digits = [_ROMAN_DIGITS[letter] for letter in token]
        pairs = zip(digits, [*digits[1:], 0], strict=True)
        return (sum(-digit if digit < after else digit for digit, after in pairs),), 1
    return (), 0


def read_folder(folder: Path, suffixes: Collection[str], read: Callable[[Path], Book]) -> Book:
    """Read each manuscript of a folder by `read`, as one book that has the folder's name.

    Authors and language are those of the files where they agree. Raises `ManuscriptError` for the first file that
    can't be read.
    """
    files, others = find_files(folder, suffixes)
    chapters: list[Chapter] = []
    left_out: list[LeftOut] = []
    notes: list[str] = []
    books = []
    for path in files:
        book = read(path)
        books.append(book)
        inside = f"{path.name}/" if path.suffix.lower() == ".epub" else ""
        chapters += [
            _moved(chapter, book, path, inside, len(chapters) + 1 + n) for n, chapter in enumerate(book.chapters)
        ]
        left_out += [replace(left, span=_inside(left.span, inside)) for left in book.left_out]
        notes += [f"{path.name}: {note}" for note in book.notes]
    cover, name = _read_cover(others)
    skipped = [show(path.name) for path in others if path.name != name]
    if skipped:
        notes.append(f"Not read, for they are no manuscripts: {', '.join(skipped)}.")
    authors = {book.authors for book in books if book.authors}
    languages = {book.language for book in books if book.language}
    return Book(
        title=clean(folder.resolve().name.encode(errors="replace").decode().replace("_", " ")),
        authors=authors.pop() if len(authors) == 1 else (),
        language=languages.pop() if len(languages) == 1 else "",
        chapters=tuple(chapters),
        left_out=tuple(left_out),
        cover=cover or next((book.cover for book in books if book.cover), None),
        notes=tuple(notes),
    )


def _moved(chapter: Chapter, book: Book, path: Path, inside: str, index: int) -> Chapter:
    """A file's chapter in its place in the book. Where nothing in a file is a title, its name is."""
    has_title = any(block.kind is Kind.HEADING for block in chapter.blocks)
    title = chapter.title if has_title or len(book.chapters) > 1 or path.suffix.lower() == ".epub" else _title_of(path)
    blocks = tuple(_moved_block(block, inside) for block in chapter.blocks) if inside else chapter.blocks
    return replace(chapter, index=index, title=title, blocks=blocks)


def _moved_block(block: Block, inside: str) -> Block:
    return replace(block, span=_inside(block.span, inside))


def _inside(span: Span, inside: str) -> Span:
    return replace(span, file=inside + span.file) if inside else span


def _title_of(path: Path) -> str:
    """ "03 - The_Long Road.txt" is called The Long Road."""
    name = path.stem.encode(errors="replace").decode().replace("_", " ")
    return clean(_ORDER_PREFIX.sub("", name, count=1)) or clean(name) or path.name


def _read_cover(others: list[Path]) -> tuple[Cover | None, str]:
    for path in others:
        if _COVERS.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            cover = Cover.of(path.read_bytes())
            if cover is not None:
                return cover, path.name
    return None, ""
