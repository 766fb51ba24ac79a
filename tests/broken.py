"""Broken inputs, each a function of its kind and seed: mutated EPUBs, and random texts of all formats."""

from __future__ import annotations

import functools
import io
import random
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

from tests.manuscript.build import CONTAINER, lines, nav, ncx, opf, page
from tests.manuscript.word import NAMES

CORPUS = Path(__file__).parents[1].parent / "shared" / "corpus" / "epub"
_MAX_SEED_BYTES = 60_000
_MAX_CHARS = 200_000  # of the worst, one paragraph of marks and figures, which take 17 s of a processor a million

Members = list[tuple[str, bytes]]
"""Names and contents of a zip's members; a name may stand there twice."""

_OWN_PAGES = {
    "nav.xhtml": nav(
        lines(("A", "a.xhtml"), ("B", "b.xhtml#x"))
        + f'<li><a href="c.xhtml">P</a><ol>{lines(("D", "d.xhtml"))}</ol></li>',
        landmarks='<li><a epub:type="titlepage" href="d.xhtml">t</a></li>',
    ),
    "toc.ncx": ncx(("A", "a.xhtml"), ("B", "b.xhtml#x")),
    "a.xhtml": page(
        "<link rel='stylesheet' href='s.css'/><h1>A</h1><p>a<a epub:type='noteref' href='#n'>1</a> b.</p>"
        "<p class='verse'>b<br/>c</p><aside epub:type='footnote' id='n'><p>1. A note.</p></aside>"
        "<ol start='3'><li>x</li><li><p>y</p></li></ol><table><tr><th>a</th><td>b</td></tr></table>"
    ),
    "b.xhtml": page("<p>x</p><h2 id='x'>B</h2><ruby>k<rt>l</rt></ruby><hr/><p>* * *</p><p>H<sub>2</sub>O</p>"),
    "c.xhtml": page("<h1>Part</h1><math xmlns='http://www.w3.org/1998/Math/MathML' alttext='x'><mi>x</mi></math>"),
    "d.xhtml": page("<p>d&eacute;</p>", "epub:type='titlepage'"),
    "s.css": "p.verse { display: block } .hidden, h1 > span:first-child { display: none } @media print { a { b: c } }",
}
_SHRAPNEL = (
    b"<", b">", b"&", b"\0", b"<p>", b"</div>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?x", b"?>", b"&#x0;",
    b"&#99999999;", b"<!DOCTYPE x [<!ENTITY a '", b"<!ENTITY b SYSTEM 'file:///etc/passwd'>", b"&b;", b"\xff\xfe",
    b"\xef\xbb\xbf", b"xmlns:a=''", b"xmlns='x'", b"encoding='utf-16'", b"encoding='rot13'", b"encoding='idna'",
    b"encoding='unicode_escape'", b"<hr/>", b"<br/>", b"#", b"%", b"%00", b"../", b"../../../../etc/passwd",
    b"file:///etc/passwd", b"http://x/y", b"id='x'", b"href=''", b"href='#'", b"idref=''", b"linear='no'",
    b"hidden=''", b"colspan='99999999'", b"start='-9e9'", b"<ol start='99999999999999999999'>", b"<table>", b"<tr>",
    b"<td>", b"<svg>", b"<math>", b"<a epub:type='noteref' href='#n'>", b"<aside epub:type='footnote' id='n'>", b"{",
    b"}", b"/*", b"*/", b"@import 'x';", b"display:none", b"\x00\xd8", b"\xf0\x9f",
)  # fmt: skip


def _pack(members: Members, chance: random.Random) -> bytes:
    packed = io.BytesIO()
    method = chance.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
    with zipfile.ZipFile(packed, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that stands there twice is what we want
        for name, data in members:
            info = zipfile.ZipInfo(name[:60_000])
            info.compress_type = method
            archive.writestr(info, data)
    return packed.getvalue()


@functools.cache
def seed_books() -> tuple[bytes, ...]:
    """EPUBs to begin with: an own one, and small ones of the corpus where it is at hand."""
    members = [("META-INF/container.xml", CONTAINER.encode()), ("OPS/package.opf", opf(list(_OWN_PAGES)).encode())]
    members += [(f"OPS/{name}", data.encode()) for name, data in _OWN_PAGES.items()]
    own = _pack(members, random.Random(0))
    found = sorted(path for path in CORPUS.glob("*/*.epub") if path.stat().st_size <= _MAX_SEED_BYTES)
    return (own, *(path.read_bytes() for path in found))


@functools.cache
def _unpacked(data: bytes) -> Members:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return [(info.filename, archive.read(info)) for info in archive.infolist() if info.file_size < 300_000]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
        return []


def wound(data: bytes, chance: random.Random) -> bytes:
    """A few bits flipped, bytes cut out or put in, and parts doubled."""
    broken = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        if not broken:
            break
        place = chance.randrange(len(broken))
        what = chance.randrange(6)
        if what == 0:
            broken[place] ^= 1 << chance.randrange(8)
        elif what == 1:
            broken[place] = chance.randrange(256)
        elif what == 2:
            del broken[place : place + chance.randint(1, 40)]
        elif what == 3:
            broken[place:place] = chance.choice(_SHRAPNEL)
        elif what == 4:
            broken[place:place] = broken[chance.randrange(len(broken)) :][:60] * chance.choice([1, 1, 2, 300])
        elif chance.random() < 0.2:
            del broken[place:]
    return bytes(broken)


def broken_epub(chance: random.Random) -> bytes:
    book = chance.choice(seed_books()) if chance.random() < 0.7 else seed_books()[0]
    members = list(_unpacked(book))
    if not members or chance.random() < 0.25:
        return wound(book, chance)
    for _ in range(chance.randint(1, 3)):
        members = chance.choice(_WAYS)(members, chance) or members
    packed = _pack(members, chance)
    return wound(packed, chance) if chance.random() < 0.1 else packed


def _wound_member(members: Members, chance: random.Random) -> Members:
    texts = [i for i, (name, _) in enumerate(members) if not name.endswith((".jpg", ".png", ".otf", ".woff"))]
    i = chance.choice(texts or range(len(members)))
    members[i] = (members[i][0], wound(members[i][1], chance))
    return members


def _delete_member(members: Members, chance: random.Random) -> Members:
    del members[chance.randrange(len(members))]
    return members


def _double_member(members: Members, chance: random.Random) -> Members:
    name, data = chance.choice(members)
    return [*members, (chance.choice([name, name.upper(), f"../{name}", "META-INF/rights.xml", "/x"]), data)]


def _rename_member(members: Members, chance: random.Random) -> Members:
    i = chance.randrange(len(members))
    name = chance.choice(["", "a\n.b", "x" * 5000, "\u202e.xhtml", "..", "/", "C:\\x", "\ud7ff\U0001f600", "a//b", "."])
    members[i] = (name or "x", members[i][1])
    return members


def _swap_members(members: Members, chance: random.Random) -> Members:
    i, j = chance.randrange(len(members)), chance.randrange(len(members))
    members[i], members[j] = (members[i][0], members[j][1]), (members[j][0], members[i][1])
    return members


def _replace_member(members: Members, chance: random.Random) -> Members:
    i = chance.randrange(len(members))
    members[i] = (members[i][0], encode(soup(chance), chance) if chance.random() < 0.8 else b"")
    return members


_WAYS: tuple[Callable[[Members, random.Random], Members], ...] = (
    _wound_member, _wound_member, _wound_member, _wound_member, _delete_member, _double_member, _rename_member,
    _swap_members, _replace_member,
)  # fmt: skip

_WORDS = (
    "the", "rain", "Chapter", "CHAPTER IV", "Part Two", "I", "1815", "12", "Mr.", "said", "“No!”", "it's", "e.g.",
    "3.14", "$1,200", "2/3", "R2D2", "and", "…", "—", "--", "* * *", "PROLOGUE", "THE END", "Contents", "well-",
    "_very_", "=bold=", "[1]", "[Footnote 1: x]", "[Illustration: y]", "[Pg 12]", "{12}",
    "*** START OF THE PROJECT GUTENBERG EBOOK X ***", "*** END OF THE PROJECT GUTENBERG EBOOK X ***", "Produced by",
    "http://a.b/c?d=e", "24th", "XIV", "Dr", "a.m.",
)  # fmt: skip
_BLANKS = (
    " ", " ", " ", " ", "\n", "\n", "\n\n", "\r\n", "\n\n\n\n", "\t", "    ", "\f", "\u00a0", "\u2028", "\u3000",
    "\v", "",
)  # fmt: skip
_MARKDOWN = (
    "# ", "## ", "> ", "- ", "1. ", "* ", "```\n", "---\n", "===\n", "| a | b |\n|---|---|\n", "[^1]", "[^1]: ", "^[",
    "[a](b)", "![a](b)", "**", "*", "_", "`", "~~", "~", "^", "\\", "<!--", "-->", "<div>", "</div>", "<br>", "&amp;",
    "&#0;", "[", "]", "(", ")", "    ", "\t", "Term\n: Def\n", "+++\n", "---\ntitle: [a\n---\n", "{#x}", "<", "&",
    "[a]: b\n",
)  # fmt: skip
_TAGS = (
    "p", "div", "span", "h1", "h2", "h6", "ol", "ul", "li", "table", "tr", "td", "th", "a", "sup", "sub", "aside",
    "section", "blockquote", "pre", "br", "hr", "img", "ruby", "rt", "svg", "math", "mi", "html", "body", "head",
    "title", "style", "script", "font", "i", "b", "nav", "dl", "dt", "dd", "figure", "p:q", "select", "option",
    "template", "frameset", "textarea",
)  # fmt: skip
_ATTRIBUTES = (
    "id='x'", "class='verse'", "class='footnote'", "hidden", "style='display:none'", "href='#x'",
    "epub:type='noteref'", "role='doc-footnote'", "start='7'", "value='x'", "lang='fr'", "alt='A'", "colspan='3'",
    "type='a'", "reversed",
)  # fmt: skip
_WORD_TAGS = (
    "p", "r", "t", "tbl", "tr", "tc", "ins", "del", "hyperlink", "sdt", "sdtContent", "pPr", "rPr", "numPr", "pStyle",
    "br", "tab", "footnoteReference", "delText", "sym", "drawing", "pict", "txbxContent", "framePr", "ruby", "rt",
)  # fmt: skip
_RANGES = (
    (0, 32), (32, 127), (128, 256), (0x300, 0x370), (0x590, 0x700), (0x2000, 0x2070), (0x4E00, 0x4E80),
    (0xD800, 0xE000), (0xE000, 0xE010), (0xFFF0, 0x10000), (0x1F600, 0x1F650), (0xE0000, 0xE0080),
)  # fmt: skip
_UNITS = (
    "a", "A", ".", "-", "[", "]", "(", "*", "_", "<", "&", "#", "> ", "- ", "1", "IV", " ", "\n", "“", "'", "\u0301",
    "a.", "a-\n", "_a", "[1]", "![", "<p>", "<b>", "`", "a, ", "$", "1,", "{1}", "=a=", "I\n\n", "|", "~", "^",
)  # fmt: skip


def soup(chance: random.Random, tags: tuple[str, ...] = _TAGS) -> str:
    """A text of random pieces: words, markup, Markdown, strange characters, long runs."""
    pieces: list[str] = []
    styles = chance.sample([_words, _marks, _markup, _characters, _runs], chance.randint(1, 3))
    for _ in range(chance.choice([1, 5, 30, 200, 800])):
        pieces.append(chance.choice(styles)(chance, tags))
        pieces.append(chance.choice(_BLANKS))
    return "".join(pieces)[:_MAX_CHARS]


def _words(chance: random.Random, tags: tuple[str, ...]) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(chance.randint(1, 12)))


def _marks(chance: random.Random, tags: tuple[str, ...]) -> str:
    return chance.choice(_MARKDOWN) * chance.choice([1, 1, 1, 2, 50])


def _markup(chance: random.Random, tags: tuple[str, ...]) -> str:
    tag = chance.choice(tags)
    opened = f"<{tag} {' '.join(chance.sample(_ATTRIBUTES, chance.randint(0, 3)))}>"
    inner = _words(chance, tags) if chance.random() < 0.7 else ""
    return chance.choice([opened + inner, opened + inner, f"{opened}{inner}</{tag}>", f"</{tag}>"])


def _characters(chance: random.Random, tags: tuple[str, ...]) -> str:
    low, high = chance.choice(_RANGES)
    return "".join(chr(chance.randrange(low, high)) for _ in range(chance.randint(1, 40)))


def _runs(chance: random.Random, tags: tuple[str, ...]) -> str:
    unit = chance.choice(_UNITS)
    return unit * chance.choice([10, 100, 1000, 5000])


def encode(text: str, chance: random.Random) -> bytes:
    encoding = chance.choice(["utf-8"] * 6 + ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252", "latin-1"])
    errors = "surrogatepass" if encoding.startswith("utf") else "replace"
    data = text.encode(encoding, errors)
    return wound(data, chance) if chance.random() < 0.2 else data


def broken_text(chance: random.Random) -> tuple[str, bytes]:
    """A suffix and the bytes of a file."""
    suffix = chance.choice([".txt", ".md", ".html", ".docx"])
    if suffix == ".html" and chance.random() < 0.5:
        return suffix, encode(f"<!DOCTYPE html><html><head><title>t</title></head><body>{soup(chance)}</body>", chance)
    if suffix != ".docx":
        return suffix, encode(soup(chance), chance)
    return suffix, _broken_document(chance)


def _broken_document(chance: random.Random) -> bytes:
    tags = tuple(f"w:{tag}" for tag in _WORD_TAGS)
    if chance.random() < 0.3:
        body = soup(chance, tags)
    else:  # well-formed, and senseless
        pieces: list[str] = []
        opened: list[str] = []
        for _ in range(chance.choice([3, 30, 300])):
            if opened and chance.random() < 0.4:
                pieces.append(f"</{opened.pop()}>")
            tag = chance.choice(tags)
            value = chance.choice(["1", "x", "-1", "", "99999999999"])
            pieces.append(f'<{tag} w:val="{value}" w:id="{value}">')
            opened.append(tag)
            if tag == "w:t":
                pieces.append(chance.choice(_WORDS).replace("<", ""))
        body = "".join(pieces) + "".join(f"</{tag}>" for tag in reversed(opened))
        paragraphs = "".join(f"<w:p><w:r><w:t>{chance.choice(_WORDS)}</w:t></w:r></w:p>" for _ in range(3))
        body = chance.choice([body, paragraphs + body])
    members = [
        ("word/document.xml", f"<w:document {NAMES}><w:body>{body}</w:body></w:document>".encode("utf-8", "replace"))
    ]
    if chance.random() < 0.5:
        members.append(("word/styles.xml", soup(chance, tags).encode("utf-8", "replace")))
    packed = _pack(members, chance)
    return wound(packed, chance) if chance.random() < 0.2 else packed


def make_input(kind: str, seed: int) -> tuple[str, bytes]:
    """Suffix and bytes of the broken file number `seed` of a kind: `epub` or `text`."""
    chance = random.Random(f"{kind} {seed}")
    return (".epub", broken_epub(chance)) if kind == "epub" else broken_text(chance)
