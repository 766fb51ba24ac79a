"""Broken bytes are read or refused, and never end in any other exception."""

from __future__ import annotations

import contextlib
import random
from pathlib import Path

import pytest

from pipeline.errors import ManuscriptError
from pipeline.manuscript import read_manuscript

from .build import epub, lines, nav, ncx, opf, page, zip_files

SHRAPNEL = [
    *(b"<", b">", b"&", b"\0", b"<p>", b"</div>", b"<!--", b"<![CDATA[", b"<?x", b"&#x0;", b"&#99999999;"),
    *(b"<!DOCTYPE x [<!ENTITY a '", b"\xff\xfe", b"xmlns:a=''", b"encoding='utf-16'", b"encoding='rot13'"),
    *(b"encoding='idna'", b"encoding='unicode_escape'", b"<hr/>", b"#", b"%", b"../", b"---\n", b"[^1]: "),
]
PAGES = {
    "nav.xhtml": nav(
        lines(("A", "a.xhtml"), ("B", "b.xhtml#x"))
        + f'<li><a href="c.xhtml">P</a><ol>{lines(("D", "d.xhtml"))}</ol></li>'
    ),
    "toc.ncx": ncx(("A", "a.xhtml")),
    "a.xhtml": page("<h1>A</h1><p>a<a epub:type='noteref' href='#n'>1</a></p><p class='verse'>b<br/>c</p>"),
    "b.xhtml": page("<p>x</p><h2 id='x'>B</h2><ruby>k<rt>l</rt></ruby>"),
    "c.xhtml": page("<h1>Part</h1>"),
    "d.xhtml": page("<p>d&eacute;</p>", "epub:type='titlepage'"),
}


def wound(data: bytes, chance: random.Random) -> bytes:
    broken = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(broken))
        what = chance.randrange(4)
        if what == 0:
            broken[place] = chance.randrange(256)
        elif what == 1:
            del broken[place : place + min(chance.randint(1, 40), len(broken) - 1)]
        elif what == 2:
            broken[place:place] = chance.choice(SHRAPNEL)
        else:
            start = chance.randrange(len(broken))
            broken[place:place] = broken[start : start + 60]
    return bytes(broken)


def read_or_refuse(path: Path) -> None:
    with contextlib.suppress(ManuscriptError):
        read_manuscript(path)


@pytest.mark.parametrize("seed", range(4))
def test_broken_archives(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    guide = '<reference type="cover" href="a.xhtml"/>'
    path = epub(tmp_path, PAGES, package=opf(list(PAGES), guide=guide))
    whole = path.read_bytes()
    for _ in range(100):
        path.write_bytes(wound(whole, chance))
        read_or_refuse(path)


@pytest.mark.parametrize("seed", range(4))
def test_broken_members(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    members = {f"OPS/{name}": data.encode() for name, data in PAGES.items()}
    members["OPS/package.opf"] = opf(list(PAGES)).encode()
    for _ in range(100):
        broken = dict(members)
        for name in chance.sample(sorted(broken), 2):
            broken[name] = wound(broken[name], chance)
        read_or_refuse(zip_files(tmp_path / "book.epub", broken))


@pytest.mark.parametrize("suffix", [".txt", ".md", ".html"])
def test_broken_text(tmp_path: Path, suffix: str) -> None:
    chance = random.Random(0)
    source = b"# A\n\nCHAPTER I\n\n> b\n\n- c\n\n<p>d</p>\n\n[^1]: e\n\n* * *\n\n| f |\n|---|\n| g |\n"
    path = tmp_path / f"book{suffix}"
    for _ in range(100):
        path.write_bytes(wound(source, chance))
        read_or_refuse(path)
