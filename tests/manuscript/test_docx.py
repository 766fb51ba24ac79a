"""Word documents: what is read, what is left out, and that no word is lost."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from lxml import etree

from pipeline.errors import ManuscriptError
from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.manuscript.docx import read_docx_tree

from .build import all_blocks, all_text, texts, titles
from .spans import check_spans
from .word import NAMES, docx, item, p, run

CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus" / "other" / "docx"


def read(path: Path) -> Book:
    book = read_manuscript(path)
    check_spans(read_docx_tree(path), all_blocks(book), book.left_out)
    return book


def left_out(book: Book) -> list[tuple[str, str]]:
    return [(left.reason, left.text) for left in book.left_out]


def test_headings_divide(tmp_path: Path) -> None:
    body = (
        p("The Book", style="T")
        + p("One", style="H1") + p("It rained.") + p("A Part of It", style="H2") + p("More.")
        + p("Two", style="Own") + p("It stopped.")
        + p("Three", properties='<w:outlineLvl w:val="0"/>') + p("They slept.")
    )  # fmt: skip
    book = read(docx(tmp_path, body))
    assert book.title == "The Book"
    assert titles(book) == ["One", "Two", "Three"]
    assert texts(book.chapters[0]) == ["The Book", "One", "It rained.", "A Part of It", "More."]


def test_what_the_document_says_of_itself(tmp_path: Path) -> None:
    core = "<dc:title>The  Book</dc:title><dc:creator>Ann Author; Bob Writer</dc:creator><dc:language>de</dc:language>"
    book = read(docx(tmp_path, p("Es regnete."), core=core))
    assert (book.title, book.authors, book.language) == ("The Book", ("Ann Author", "Bob Writer"), "de")


def test_lists_are_numbered(tmp_path: Path) -> None:
    body = (
        item("a") + item("b", 1) + item("c", 1) + item("d") + item("e", 1) + item("f", 2)
        + item("dot", 0, 2) + item("g", 0, 3) + item("h", 0, 3) + item("none", 0, 0)
    )  # fmt: skip
    book = read(docx(tmp_path, body))
    assert [block.text for block in all_blocks(book)] == [
        "1. a", "a. b", "b. c", "2. d", "a. e", "2.1 f", "dot", "5. g", "6. h", "none",
    ]  # fmt: skip


def test_a_numbered_style_of_headings(tmp_path: Path) -> None:
    numbering = (
        '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:pStyle w:val="H1"/>'
        '<w:lvlText w:val="Chapter %1"/></w:lvl></w:abstractNum><w:num w:numId="4"><w:abstractNumId w:val="1"/></w:num>'
    )
    styles = (
        '<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/>'
        '<w:pPr><w:numPr><w:numId w:val="4"/></w:numPr></w:pPr></w:style>'
    )
    body = p("Storm", style="H1") + p("It rained.") + p("Calm", style="H1") + p("It stopped.")
    book = read(docx(tmp_path, body, {"styles": styles, "numbering": numbering}))
    assert titles(book) == ["Chapter I Storm", "Chapter II Calm"]


def test_runs(tmp_path: Path) -> None:
    body = p(
        "A", run("b", "<w:b/>"), " c", "<w:r><w:tab/></w:r>", "d", "<w:r><w:br/></w:r>", "e re",
        "<w:r><w:softHyphen/></w:r>", "gard well", "<w:r><w:noBreakHyphen/></w:r>", "known",
        "<w:r><w:br w:type='page'/></w:r>",
        '<w:hyperlink w:anchor="x">' + run("link") + "</w:hyperlink>",
        "<w:smartTag>" + run(" tag") + "</w:smartTag>",
        "<w:sdt><w:sdtContent>" + run(" control") + "</w:sdtContent></w:sdt>",
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> REF x </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>' + run(" result"),
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>',
        '<w:r><w:sym w:font="Symbol" w:char="F061"/></w:r>',
    )  # fmt: skip
    assert all_text(read(docx(tmp_path, body))) == "Ab c d e regard well-known link tag control resultα"


def test_tracked_changes(tmp_path: Path) -> None:
    gone = '<w:del w:id="1"><w:r><w:delText>not </w:delText></w:r></w:del>'
    joined = '<w:rPr><w:del w:id="2"/></w:rPr>'
    body = (
        p("It was ", gone, '<w:ins w:id="3">' + run("so ") + "</w:ins>", "late.")
        + p("One sen", properties=joined) + p("tence.")
        + p("<w:moveFrom>" + run("Away.") + "</w:moveFrom>") + p("<w:moveTo>" + run("Here.") + "</w:moveTo>")
    )  # fmt: skip
    book = read(docx(tmp_path, body))
    assert [block.text for block in all_blocks(book)] == ["It was so late.", "One sentence.", "Here."]
    assert left_out(book) == [("deleted text", "not"), ("text moved elsewhere", "Away.")]


def test_hidden_text(tmp_path: Path) -> None:
    body = p(
        "Seen ", run("hidden ", "<w:vanish/>"), run("shown ", '<w:vanish w:val="0"/>'),
        run("secret ", '<w:rStyle w:val="Secret"/>'), "again.",
    )  # fmt: skip
    book = read(docx(tmp_path, body))
    assert all_text(book) == "Seen shown again."
    assert left_out(book) == [("hidden text", "hidden"), ("hidden text", "secret")]


def test_headers_footers_and_comments_are_left_out(tmp_path: Path) -> None:
    parts = {"header": p("My Book"), "footer": p("Page 1"), "comments": f"<w:comment>{p('Check.')}</w:comment>"}
    book = read(docx(tmp_path, p("Words."), parts))
    assert all_text(book) == "Words."
    assert left_out(book) == [("page header", "My Book"), ("page footer", "Page 1"), ("comment", "Check.")]


def test_the_words_of_a_diagram_are_left_out(tmp_path: Path) -> None:
    names = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:d="urn:diagram"'
    boxes = "".join(f"<d:pt><d:t><a:p><a:r><a:t>{word}</a:t></a:r></a:p></d:t></d:pt>" for word in ("Plan", "Build"))
    book = read(docx(tmp_path, p("Words."), {"diagramData": f"<d:ptLst {names}>{boxes}</d:ptLst>"}))
    assert all_text(book) == "Words."
    assert left_out(book) == [("drawing", "Plan Build")]


def test_text_of_another_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ManuscriptError, match="open it in Word and save it again"):
        read_manuscript(docx(tmp_path, p("Words.") + '<w:altChunk w:id="r9"/>'))


def test_notes_are_left_out(tmp_path: Path) -> None:
    notes = '<w:footnote w:type="separator" w:id="0">' + p("—") + '</w:footnote><w:footnote w:id="2">' + p("A note.")
    body = p("Words", '<w:r><w:footnoteReference w:id="2"/></w:r>', " on.")
    book = read(docx(tmp_path, body, {"footnotes": notes + "</w:footnote>"}))
    assert all_text(book) == "Words on."
    assert left_out(book) == [("note mark", "1"), ("note", "A note.")]


def test_a_table_and_a_box_of_text(tmp_path: Path) -> None:
    table = f"<w:tbl><w:tr><w:tc>{p('a')}</w:tc><w:tc>{p('b')}</w:tc></w:tr><w:tr><w:tc>{p('c')}</w:tc></w:tr></w:tbl>"
    inside = f"<w:txbxContent>{p('In a box.')}</w:txbxContent>"
    box = (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{inside}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{inside}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    book = read(docx(tmp_path, p("Before ", box, "after.") + table + p("End.")))
    assert re.findall(r"\w+", all_text(book)) == ["Before", "after", "In", "a", "box", "a", "b", "c", "End"]


def test_scene_breaks(tmp_path: Path) -> None:
    body = (
        "".join(p(f"Sentence {number}.") for number in range(9))
        + p() + p("A new scene.") + p("#") + p("Another.")
        + p('<w:r><w:pict><v:rect o:hr="t"/></w:pict></w:r>') + p("A last one.")
        + p('<w:r><w:sym w:font="Wingdings" w:char="F05B"/></w:r>') + p("So.")
    )  # fmt: skip
    book = read(docx(tmp_path, body))
    kinds = [block.kind for block in all_blocks(book)]
    assert [number for number, kind in enumerate(kinds) if kind == "break"] == [9, 11, 13, 15]


def test_empty_paragraphs_that_set_all_paragraphs_apart_are_no_breaks(tmp_path: Path) -> None:
    book = read(docx(tmp_path, "".join(p(f"Sentence {number}.") + p() for number in range(12))))
    assert all(block.kind == "paragraph" for block in all_blocks(book))


def test_contents_drop_cap_and_quotation(tmp_path: Path) -> None:
    body = (
        p("One\t1", style="C1")
        + p("I", properties='<w:framePr w:dropCap="drop"/>') + p("t rained.") + p("Said so.", style="Q")
    )  # fmt: skip
    book = read(docx(tmp_path, body))
    assert [(block.kind, block.text) for block in all_blocks(book)] == [
        ("paragraph", "It rained."),
        ("quote", "Said so."),
    ]
    assert left_out(book) == [("table of contents", "One 1")]


def test_an_equation_and_a_phonetic_guide(tmp_path: Path) -> None:
    equation = (
        "<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
    )
    ruby = f"<w:r><w:ruby><w:rt>{run('kan')}</w:rt><w:rubyBase>{run('漢')}</w:rubyBase></w:ruby></w:r>"
    book = read(docx(tmp_path, p("x = ", equation, " ", ruby)))
    assert all_text(book) == "x = a/b 漢"


def test_the_strict_form(tmp_path: Path) -> None:
    names = NAMES.replace(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
        "http://purl.oclc.org/ooxml/wordprocessingml/main",
    )
    assert all_text(read(docx(tmp_path, p("Words."), names=names))) == "Words."


@pytest.mark.parametrize("cut", [40, 200, -30])
def test_a_document_cut_short(tmp_path: Path, cut: int) -> None:
    path = docx(tmp_path, p("Words."))
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(ManuscriptError, match="cut short or damaged"):
        read_manuscript(path)


def test_another_zip_is_no_document(tmp_path: Path) -> None:
    path = tmp_path / "book.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(ManuscriptError, match="is not a Word document"):
        read_manuscript(path)


def test_a_password(tmp_path: Path) -> None:
    path = tmp_path / "book.docx"
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)
    path.write_bytes(ole + "EncryptedPackage".encode("utf-16-le") + bytes(100))
    with pytest.raises(ManuscriptError, match="locked with a password"):
        read_manuscript(path)
    path.write_bytes(ole)
    with pytest.raises(ManuscriptError, match="old Word document"):
        read_manuscript(path)


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.docx")), ids=lambda path: path.name)
def test_no_letter_of_a_document_is_lost(path: Path) -> None:
    """Against an extractor of our own: each `w:t`, `w:delText` and `m:t` of any part, alternatives counted once."""
    try:
        book = read_manuscript(path)
    except ManuscriptError:
        return
    found: Counter[str] = Counter()
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if name.startswith("word/") and name.endswith(".xml") and "glossary" not in name:
                root = etree.fromstring(archive.read(name))
                for text in root.iter("{*}t", "{*}delText"):
                    if not any("Fallback" in str(above.tag) for above in text.iterancestors()):
                        found.update(char for char in text.text or "" if char.isalnum())
    found.subtract(char for char in all_text(book) if char.isalnum())
    found.subtract(char for left in book.left_out for char in left.text if char.isalnum())
    assert not [char for char, count in found.items() if count > 0]
