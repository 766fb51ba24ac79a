"""No word of a book is lost or doubled: held against a reader that shares nothing with ours.

It takes the archive apart with the standard library alone, by regular expressions and `html.parser`, and its text must
be what our blocks and left-outs make when they are laid into one another, each in its order.
"""

from __future__ import annotations

import json
import posixpath
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from pipeline.errors import ManuscriptError
from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book

from .build import all_blocks, epub, page
from .spans import own_text

CASES = Path(__file__).parent.parent / "cases" / "manuscript"
BOOKS = Path(__file__).parents[2].parent / "shared" / "corpus" / "epub"
_TEXT_TYPES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml")
_INVISIBLE = "\u00ad\u200b\u2060\ufeff\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_LIGATURES = {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"}


class Extractor(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []

    def handle_data(self, data: str) -> None:
        self.pieces.append(re.sub(r"<!\[CDATA\[|\]\]>", "", data) if self.cdata_elem else data)

    def unknown_decl(self, data: str) -> None:
        self.pieces.append(data.removeprefix("CDATA["))


def characters(text: str) -> str:
    """What can be seen: no white space, no formatting or control characters, ligatures opened."""
    text = "".join(_LIGATURES.get(char, char) for char in text)
    return "".join(char for char in text if not char.isspace() and (char not in _INVISIBLE and char >= " "))


def extract(data: bytes) -> str:
    declared = re.match(rb"\s*<\?xml[^>]*encoding=[\"']([\w-]+)", data)
    encoding = declared[1].decode() if declared else "utf-8-sig"
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252" if encoding.lower() in ("utf-8", "iso-8859-1") else encoding)
    parser = Extractor()
    parser.feed(re.sub(r"<!DOCTYPE[^>\[]*(\[.*?\]\s*)?>", "", text, count=1, flags=re.DOTALL))
    parser.close()
    return characters("".join(parser.pieces))


def text_files(path: Path) -> Iterator[tuple[str, str]]:
    """Each text file of the EPUB manifest, and what can be seen in it."""
    with zipfile.ZipFile(path) as archive:
        names = {unicodedata.normalize("NFC", name): name for name in archive.namelist()}
        package = next((name for name in names if name.endswith(".opf")), "")
        if "META-INF/container.xml" in names:
            container = archive.read("META-INF/container.xml").decode("utf-8-sig")
            package = unquote(re.findall(r"full-path=[\"']([^\"']+)", container)[0])
        for item in re.findall(r"<(?:\w+:)?item\s[^>]*>", archive.read(package).decode("utf-8-sig")):
            fields = dict(re.findall(r"([\w-]+)\s*=\s*[\"']([^\"']*)", item))
            place = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(fields.get("href", ""))))
            name = names.get(unicodedata.normalize("NFC", place))
            if name and fields.get("media-type") in _TEXT_TYPES:
                data = archive.read(name)
                if b"<!ENTITY" not in data:
                    yield name, extract(data)


def is_interleaved(whole: str, spoken: str, left_out: list[str]) -> bool:
    """Whether `whole` is `spoken` with all of `left_out` put in, in order."""
    lengths = [0]
    for text in left_out:
        lengths.append(lengths[-1] + len(text))
    if len(whole) != len(spoken) + lengths[-1]:
        return False
    waiting = {0: {0}}  # by position: how many left-outs may have been put in
    for position in range(len(whole) + 1):
        for count in waiting.pop(position, ()):
            if position == len(whole) and count == len(left_out):
                return True
            index = position - lengths[count]
            if index < len(spoken) and position < len(whole) and spoken[index] == whole[position]:
                waiting.setdefault(position + 1, set()).add(count)
            if count < len(left_out) and whole.startswith(left_out[count], position):
                waiting.setdefault(position + len(left_out[count]), set()).add(count + 1)
    return False


def check(book: Book, path: Path) -> None:
    num_files = 0
    for name, whole in text_files(path):
        spoken = "".join(characters(own_text(block)) for block in all_blocks(book) if block.span.file == name)
        left_out = [text for left in book.left_out if left.span.file == name if (text := characters(left.text))]
        assert is_interleaved(whole, spoken, left_out), name
        num_files += 1
    assert num_files


@pytest.mark.parametrize("path", sorted(BOOKS.glob("*/*.epub")), ids=lambda path: path.name)
def test_books(path: Path) -> None:
    try:
        book = read_manuscript(path)
    except ManuscriptError:
        return
    check(book, path)


@pytest.mark.parametrize("name", ["blocks.jsonl", "left_out.jsonl", "notes.jsonl"])
def test_small_cases(tmp_path: Path, name: str) -> None:
    for line in (CASES / name).read_text(encoding="utf-8").splitlines():
        path = epub(tmp_path, {"a.xhtml": page(json.loads(line)["html"] + "<p>end</p>")})
        check(read_manuscript(path), path)


@pytest.mark.parametrize(
    ("whole", "spoken", "left_out", "is_right"),
    [
        ("abc1d", "abcd", ["1"], True),
        ("abc1d", "abc", ["1"], False),
        ("abcd", "abcd", ["d"], False),
        ("ab12", "ab", ["2", "1"], False),
        ("aaab", "ab", ["aa"], True),
    ],
)
def test_the_comparison(whole: str, spoken: str, left_out: list[str], is_right: bool) -> None:
    assert is_interleaved(whole, spoken, left_out) == is_right
