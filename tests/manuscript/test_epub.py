"""EPUB 2 and 3: order, chapters, metadata, cover."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.manuscript import read_manuscript
from pipeline.manuscript.archive import join_href
from pipeline.manuscript.reading import Notes, Reading

from .build import PNG, all_text, epub, kept_titles, lines, nav, ncx, opf, page, texts, titles
from .spans import check_book


def test_spine_order_goes_before_manifest_order(tmp_path: Path) -> None:
    pages = {f"{name}.xhtml": page(f"<h1>{name}</h1><p>Text {name}.</p>") for name in ("c10", "c2", "c1")}
    package = opf(list(pages), spine=["c1.xhtml", "c2.xhtml", "c10.xhtml"])
    book = read_manuscript(epub(tmp_path, pages, package=package))
    assert [texts(chapter) for chapter in book.chapters] == [
        ["c1", "Text c1."],
        ["c2", "Text c2."],
        ["c10", "Text c10."],
    ]
    assert [chapter.index for chapter in book.chapters] == [1, 2, 3]


def test_items_that_are_not_linear_are_left_out_and_listed(tmp_path: Path) -> None:
    pages = {"c1.xhtml": page("<p>Told.</p>"), "notes.xhtml": page("<p>Aside.</p>")}
    package = opf(list(pages), linear={"notes.xhtml": "no"})
    book = read_manuscript(epub(tmp_path, pages, package=package))
    assert all_text(book) == "Told."
    (left,) = (left for left in book.left_out if "Aside." in left.text)
    assert "reading order" in left.reason
    assert left.span.file == "OPS/notes.xhtml"


def test_a_spine_without_a_linear_item_is_read_all_the_same(tmp_path: Path) -> None:
    pages = {"c1.xhtml": page("<p>Told.</p>"), "c2.xhtml": page("<p>And told.</p>")}
    book = read_manuscript(epub(tmp_path, pages, package=opf(list(pages), linear=dict.fromkeys(pages, "no"))))
    assert all_text(book) == "Told. And told."
    assert "all are read" in book.notes[0]


def test_chapters_that_the_contents_list_are_read_though_they_are_not_linear(tmp_path: Path) -> None:
    pages = {
        "cover.xhtml": page("<p>A Book</p>"),
        "c1.xhtml": page("<p>Told.</p>"),
        "c2.xhtml": page("<p>And told.</p>"),
        "nav.xhtml": nav(lines(("Cover", "cover.xhtml"), ("One", "c1.xhtml"), ("Two", "c2.xhtml"))),
    }
    package = opf(list(pages), linear={"c1.xhtml": "no", "c2.xhtml": "no"})
    assert kept_titles(read_manuscript(epub(tmp_path, pages, package=package))) == ["One", "Two"]


@pytest.mark.parametrize(
    ("href", "member"),
    [
        ("my%20chapter.xhtml", "OPS/my chapter.xhtml"),
        ("Chapter.XHTML", "OPS/chapter.xhtml"),
        ("../text/c.xhtml", "text/c.xhtml"),
        ("./a/../c.xhtml", "OPS/c.xhtml"),
        ("/OPS/c.xhtml", "OPS/c.xhtml"),
        ("caf%C3%A9.xhtml", "OPS/cafe\u0301.xhtml"),
        ("50%25.xhtml", "OPS/50%.xhtml"),
        ("50%20.xhtml", "OPS/50%20.xhtml"),
    ],
)
def test_hrefs_are_decoded_and_resolved(tmp_path: Path, href: str, member: str) -> None:
    package = opf([], spine=["c"], manifest=f'<item id="c" href="{href}" media-type="application/xhtml+xml"/>')
    book = read_manuscript(epub(tmp_path, {}, package=package, more={member: page("<p>Found.</p>")}))
    assert all_text(book) == "Found."


def test_hrefs_never_lead_out_of_the_archive(tmp_path: Path) -> None:
    assert join_href("OPS/package.opf", "../../etc/passwd") is None
    assert join_href("OPS/package.opf", "https://example.org/c.xhtml") is None
    (tmp_path / "outside.xhtml").write_text(page("<p>Secret.</p>"), encoding="utf-8")
    manifest = '<item id="x" href="../../outside.xhtml" media-type="application/xhtml+xml"/>'
    package = opf(["c.xhtml"], spine=["c.xhtml", "x"], manifest=manifest)
    pages = {"c.xhtml": page("<p>Inside.</p>")}
    book = read_manuscript(epub(tmp_path, pages, package=package, more={"../outside.xhtml": "<p>Slip.</p>"}))
    assert all_text(book) == "Inside."
    assert any("outside.xhtml" in note for note in book.notes)


def test_a_missing_spine_file_is_noted(tmp_path: Path) -> None:
    package = opf(["c.xhtml", "gone.xhtml"], spine=["gone.xhtml", "c.xhtml", "unknown"])
    book = read_manuscript(epub(tmp_path, {"c.xhtml": page("<p>Here.</p>")}, package=package))
    assert all_text(book) == "Here."
    assert any("gone.xhtml" in note for note in book.notes)
    assert any("unknown" in note for note in book.notes)


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    package = opf(["c.xhtml"], spine=["c.xhtml", "c.xhtml"])
    book = read_manuscript(epub(tmp_path, {"c.xhtml": page("<p>Once.</p>")}, package=package))
    assert all_text(book) == "Once."
    assert any("more than once" in note for note in book.notes)


def test_a_picture_in_the_spine_gives_way_to_its_fallback(tmp_path: Path) -> None:
    manifest = '<item id="p" href="p.png" media-type="image/png" fallback="c.xhtml"/>'
    package = opf(["c.xhtml"], spine=["p"], manifest=manifest)
    book = read_manuscript(epub(tmp_path, {"c.xhtml": page("<p>Instead.</p>"), "p.png": PNG}, package=package))
    assert all_text(book) == "Instead."


def test_titles_come_from_nav_then_ncx_then_headings(tmp_path: Path) -> None:
    body = {"a.xhtml": page("<h1>A</h1><p>a</p>"), "b.xhtml": page("<h1>B</h1><p>b</p>")}
    by_nav = {**body, "nav.xhtml": nav(lines(("Nav A", "a.xhtml"), ("Nav\n B", "b.xhtml")))}
    by_ncx = {**body, "toc.ncx": ncx(("Ncx A", "a.xhtml"), ("Ncx B", "b.xhtml"))}
    assert titles(read_manuscript(epub(tmp_path, {**by_ncx, **by_nav}))) == ["Nav A", "Nav B"]
    assert titles(read_manuscript(epub(tmp_path, {**by_ncx, "nav.xhtml": nav("")}))) == ["Ncx A", "Ncx B"]
    assert titles(read_manuscript(epub(tmp_path, body))) == ["A", "B"]


def test_empty_titles_are_derived_and_equal_ones_kept(tmp_path: Path) -> None:
    pages = {
        "a.xhtml": page("<h1>The Heading</h1><p>a</p>"),
        "b.xhtml": page("<p>One two three four five six seven eight nine ten.</p>"),
        "c.xhtml": page("<p>c</p>"),
        "d.xhtml": page("<p>d</p>"),
    }
    entries = lines(("", "a.xhtml"), (" ", "b.xhtml"), ("Chapter 1", "c.xhtml"), ("Chapter 1", "d.xhtml"))
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(entries)}))
    assert titles(book) == ["The Heading", "One two three four five six seven eight…", "Chapter 1", "Chapter 1"]


def test_anchors_divide_a_file_and_nothing_before_them_is_lost(tmp_path: Path) -> None:
    body = (
        "<h1>The Book</h1><h2 id='one'>1</h2><p>a</p><h2><a id='two'/>2</h2><p>b</p>"
        "<h2>3</h2><h3 id='three'>Its Name</h3><p>c</p>"
    )
    entries = lines(("One", "a.xhtml#one"), ("Two", "a.xhtml#two"), ("Three", "a.xhtml#three"))
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page(body), "nav.xhtml": nav(entries)}))
    assert titles(book) == ["One", "Two", "Three"]
    assert [texts(chapter) for chapter in book.chapters] == [
        ["The Book", "1", "a"],
        ["2", "b"],
        ["3", "Its Name", "c"],
    ]


def test_a_heading_that_ends_a_chapter_stays_in_it(tmp_path: Path) -> None:
    body = "<h2 id='a'>A</h2><p>a</p><h3>The End of A</h3><h2 id='b'>B</h2><p>b</p>"
    entries = lines(("A", "a.xhtml#a"), ("B", "a.xhtml#b"))
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page(body), "nav.xhtml": nav(entries)}))
    assert [texts(chapter) for chapter in book.chapters] == [["A", "a", "The End of A"], ["B", "b"]]


def test_two_entries_for_one_place_are_one_chapter(tmp_path: Path) -> None:
    inner = lines(("Chapter 1", "a.xhtml#top"), ("Again", "a.xhtml"), ("Chapter 2", "b.xhtml"))
    pages = {
        "a.xhtml": page("<div id='top'><p>a</p></div>"),
        "b.xhtml": page("<p>b</p>"),
        "nav.xhtml": nav(f'<li><a href="a.xhtml">Part One</a><ol>{inner}</ol></li>'),
    }
    assert titles(read_manuscript(epub(tmp_path, pages))) == ["Chapter 1", "Chapter 2"]


def test_an_anchor_that_does_not_exist_means_the_file(tmp_path: Path) -> None:
    pages = {"a.xhtml": page("<p>a</p>"), "b.xhtml": page("<p>b</p>")}
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(lines(("A", "a.xhtml#no"), ("B", "b.xhtml")))}))
    assert [texts(chapter) for chapter in book.chapters] == [["a"], ["b"]]
    assert any("a.xhtml#no" in note for note in book.notes)


def test_unlisted_files_belong_to_the_chapter_before(tmp_path: Path) -> None:
    pages = {f"{name}.xhtml": page(f"<p>{name}</p>") for name in ("front", "a", "a2", "b")}
    pages["dear.xhtml"] = page("<h2>To You</h2><p>dear</p>")
    package = opf(["nav.xhtml", *pages], spine=["front.xhtml", "dear.xhtml", "a.xhtml", "a2.xhtml", "b.xhtml"])
    pages["nav.xhtml"] = nav(lines(("A", "a.xhtml"), ("B", "b.xhtml")))
    book = read_manuscript(epub(tmp_path, pages, package=package))
    assert titles(book) == ["front", "To You", "A", "B"]
    assert texts(book.chapters[2]) == ["a", "a2"]


def test_a_paragraph_cut_by_a_file_border_is_read_on(tmp_path: Path) -> None:
    pages = {"a.xhtml": page("<p>The road was</p>"), "b.xhtml": page("<p>long.</p><p>It ended.</p>")}
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(lines(("A", "a.xhtml")))}))
    (chapter,) = book.chapters
    assert [block.continues for block in chapter.blocks] == [False, True, False]


@pytest.mark.parametrize(("before", "after"), [("It ended.", "e.g. here"), ("The road", "Long")])
def test_whole_paragraphs_at_a_file_border_stay_apart(tmp_path: Path, before: str, after: str) -> None:
    pages = {"a.xhtml": page(f"<p>{before}</p>"), "b.xhtml": page(f"<p>{after}</p>")}
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(lines(("A", "a.xhtml")))}))
    assert [block.continues for block in book.chapters[0].blocks] == [False, False]


def test_parts(tmp_path: Path) -> None:
    pages = {
        "p1.xhtml": page("<h1>Part One</h1>"),
        "c1.xhtml": page("<h2>1</h2><p>a</p>"),
        "p2.xhtml": page("<h1>Part Two</h1><p>Ten years later.</p>"),
        "c2.xhtml": page("<h2>2</h2><p>b</p>"),
        "c3.xhtml": page("<h2>3</h2><p>c</p>"),
    }
    entries = (
        f'<li><a href="p1.xhtml">Part One</a><ol>{lines(("One", "c1.xhtml"))}</ol></li>'
        f'<li><a href="p2.xhtml">Part Two</a><ol>{lines(("Two", "c2.xhtml"))}</ol></li>'
        f'<li><a href="c3.xhtml">Part Three</a><ol>{lines(("Three", "c3.xhtml"))}</ol></li>'
    )
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(entries)}))
    assert titles(book) == ["One", "Part Two", "Two", "Three"]
    assert texts(book.chapters[0]) == ["Part One", "1", "a"]
    assert texts(book.chapters[1]) == ["Part Two", "Ten years later."]


def test_part_labels_without_a_link_are_no_chapters(tmp_path: Path) -> None:
    entries = f"<li><span>Part One</span><ol>{lines(('A', 'a.xhtml'), ('B', 'b.xhtml'))}</ol></li>"
    pages = {"a.xhtml": page("<p>a</p>"), "b.xhtml": page("<p>b</p>"), "nav.xhtml": nav(entries)}
    assert titles(read_manuscript(epub(tmp_path, pages))) == ["A", "B"]


def test_a_table_of_contents_out_of_order_does_not_move_the_text(tmp_path: Path) -> None:
    pages = {"a.xhtml": page("<p>a</p>"), "b.xhtml": page("<p>b</p>")}
    entries = lines(("B", "b.xhtml"), ("A", "a.xhtml"), ("Away", "https://example.org/"), ("No", "no.xhtml"))
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(entries)}))
    assert titles(book) == ["A", "B"]
    assert sum("skipped" in note for note in book.notes) == 2


@pytest.mark.parametrize("listed", [False, True])
def test_headings_divide_where_the_contents_say_nothing(tmp_path: Path, listed: bool) -> None:
    body = "<h1>Title</h1><p>By me.</p><h2>I</h2><p>a</p><h3>x</h3><p>b</p><h2>II</h2><h2>Its Name</h2><p>c</p>"
    pages = {"a.xhtml": page(body)}
    if listed:
        pages["nav.xhtml"] = nav(lines(("The Book", "a.xhtml")))
    book = read_manuscript(epub(tmp_path, pages))
    assert titles(book) == ["Title", "I", "II"]
    assert texts(book.chapters[2]) == ["II", "Its Name", "c"]


def test_chapters_with_nothing_to_say(tmp_path: Path) -> None:
    pages = {
        "empty.xhtml": page("<p> \u00a0</p>"),
        "nil.xhtml": "",
        "map.xhtml": page("<img src='map.png' alt='A map'/>"),
        "stars.xhtml": page("<p>* * *</p>"),
        "c.xhtml": page("<p>c</p>"),
    }
    entries = lines(*((name, name) for name in pages))
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(entries)}))
    assert [chapter.kept for chapter in book.chapters] == [False, False, False, False, True]
    assert [chapter.reason.removeprefix("nothing to say: ") for chapter in book.chapters] == [
        "empty",
        "empty",
        "only pictures",
        "only ornaments",
        "",
    ]


def test_front_and_back_matter(tmp_path: Path) -> None:
    pages = {
        "t.xhtml": page("<h1>A Book</h1><p>by Ann</p>", 'epub:type="titlepage"'),
        "r.xhtml": page('<section epub:type="copyright-page"><p>All rights.</p></section>'),
        "toc.xhtml": page("<p>One, two</p>"),
        "f.xhtml": page("<h1>Foreword</h1><p>f</p>", 'epub:type="foreword"'),
        "c.xhtml": page("<p>Contents may have shifted.</p>"),
        "i.xhtml": page("<h1>Index</h1><p>apples, 3</p>"),
        "x.xhtml": page("<p>Set in type.</p>", 'role="doc-colophon"'),
    }
    entries = lines(
        ("Front", "t.xhtml"),
        ("Rights", "r.xhtml"),
        ("Inside", "toc.xhtml"),
        ("Foreword", "f.xhtml"),
        ("Contents of a Drawer", "c.xhtml"),
        ("Index", "i.xhtml"),
    )
    marks = '<li><a epub:type="toc" href="toc.xhtml">Contents</a></li>'
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(entries, marks)}))
    assert [chapter.reason for chapter in book.chapters] == [
        "title page, by its type",
        "copyright page, by its type",
        "table of contents, by its guide",
        "",
        "",
        "index, by its title",
        "colophon, by its type",
    ]
    assert [chapter.matter for chapter in book.chapters][3] == "foreword"
    assert kept_titles(book) == ["Foreword", "Contents of a Drawer"]
    assert texts(book.chapters[1]) == ["All rights."]


def test_the_epub_2_guide_names_matter_but_never_a_whole_book(tmp_path: Path) -> None:
    pages = {"t.xhtml": page("<p>A Book</p>"), "b.xhtml": page(f"<p>{'word ' * 5000}</p>")}
    guide = '<reference type="title-page" href="t.xhtml"/><reference type="toc" href="b.xhtml"/>'
    package = opf(["toc.ncx", *pages], guide=guide)
    pages["toc.ncx"] = ncx(("Start", "t.xhtml"), ("Text", "b.xhtml"))
    book = read_manuscript(epub(tmp_path, pages, package=package))
    assert [chapter.reason for chapter in book.chapters] == ["title page, by its guide", ""]


GUIDED = {
    "guide": {"guide": '<reference type="index" href="x.xhtml"/><reference type="colophon" href="y.xhtml"/>'},
    "landmarks": {"landmarks": "<li><a epub:type='index' href='x.xhtml'>I</a></li>"
                  "<li><a epub:type='colophon' href='y.xhtml'>C</a></li>"},
}  # fmt: skip


@pytest.mark.parametrize("where", GUIDED)
def test_unlisted_back_matter_is_known_by_the_guide_alone(tmp_path: Path, where: str) -> None:
    pages = {
        "a.xhtml": page("<p>First.</p>"),
        "b.xhtml": page("<p>Second.</p>"),
        "x.xhtml": page("<p>Where things are</p><p>apple, 3</p>"),
        "y.xhtml": page("<p>Set in Garamond.</p>"),
        "nav.xhtml": nav(lines(("One", "a.xhtml"), ("Two", "b.xhtml")), GUIDED[where].get("landmarks", "")),
    }
    package = opf(list(pages), guide=GUIDED[where].get("guide", ""))
    book = read_manuscript(epub(tmp_path, pages, package=package))
    assert kept_titles(book) == ["One", "Two"]
    assert [chapter.matter for chapter in book.chapters] == ["", "", "index", "colophon"]


def test_matter_within_the_one_file_of_a_book(tmp_path: Path) -> None:
    body = (
        "<section epub:type='titlepage'><h1>A Book</h1><p>Some Press</p></section>"
        "<section epub:type='dedication'><p>To the cat.</p></section>"
        "<section epub:type='copyright-page'><p>Copyright. All rights reserved.</p></section>"
        "<p>Before we begin.</p>"
        "<section epub:type='chapter' id='a'><h1>One</h1><section epub:type='epigraph'><p>Motto.</p></section>"
        "<p>First.</p></section>"
        "<section epub:type='chapter' id='b'><h1>Two</h1><p>Second.</p></section>"
        "<section epub:type='index'><h1>Index</h1><p>apple, 3</p></section>"
        "<section epub:type='colophon'><p>Set in Garamond.</p></section>"
    )
    contents = nav(lines(("One", "a.xhtml#a"), ("Two", "a.xhtml#b")))
    pages = {"a.xhtml": page(body), "nav.xhtml": contents}
    book = read_manuscript(epub(tmp_path, pages))
    dropped = [chapter.matter for chapter in book.chapters if not chapter.kept]
    assert dropped == ["title page", "copyright page", "index", "colophon"]
    assert [texts(chapter) for chapter in book.chapters if chapter.kept] == [
        ["To the cat."],
        ["Before we begin."],
        ["One", "Motto.", "First."],
        ["Two", "Second."],
    ]


def test_a_guide_names_matter_within_a_file_but_no_chapter(tmp_path: Path) -> None:
    story = "<p>She went down to the sea, and nobody spoke of it that year.</p>" * 9
    chapters = f"<h1 id='a'>One</h1>{story}<h1 id='b'>Two</h1>{story}"
    body = f"<p id='r'>By A. Press</p>{chapters}<h1 id='i'>Index</h1><p>sea, 3</p>"
    guide = "".join(
        f'<reference type="{kind}" href="a.xhtml#{name}"/>'
        for kind, name in (("copyright-page", "r"), ("toc", "a"), ("index", "i"))
    )
    pages = {"a.xhtml": page(body), "nav.xhtml": nav(lines(("One", "a.xhtml#a"), ("Two", "a.xhtml#b")))}
    book = read_manuscript(epub(tmp_path, pages, package=opf(list(pages), guide=guide)))
    assert kept_titles(book) == ["One", "Two"]
    assert [chapter.matter for chapter in book.chapters] == ["copyright page", "", "", "index"]


def test_the_navigation_document_in_the_spine_is_not_read(tmp_path: Path) -> None:
    pages = {
        "nav.xhtml": nav(lines(("One", "a.xhtml"), ("Two", "b.xhtml"))),
        "a.xhtml": page("<p>a</p>"),
        "b.xhtml": page("<p>b</p>"),
    }
    book = read_manuscript(epub(tmp_path, pages, package=opf(list(pages), spine=list(pages))))
    assert all_text(book) == "a b"
    assert any(left.reason == "navigation" and "One Two" in left.text for left in book.left_out)


def test_a_preface_beside_the_navigation_is_read(tmp_path: Path) -> None:
    preface = "Of all that I have written, this was the hardest to begin. " * 5
    contents = nav(lines(("One", "a.xhtml"))).replace("</body>", f"<h2>Preface</h2><p>{preface}</p></body>")
    pages = {"nav.xhtml": contents, "a.xhtml": page("<p>a</p>")}
    book = read_manuscript(epub(tmp_path, pages, package=opf(list(pages), spine=list(pages))))
    assert all_text(book) == f"Preface {preface}a"
    assert [(left.reason, left.text) for left in book.left_out if "One" in left.text] == [
        ("navigation", "Contents One")
    ]


def test_metadata(tmp_path: Path) -> None:
    metadata = (
        "<dc:title>\n The  Book </dc:title><dc:title>Its Series</dc:title>"
        '<dc:creator id="b">Ben &amp; Co</dc:creator><dc:creator id="a">Ann</dc:creator>'
        "<dc:language>en-GB</dc:language><dc:publisher>House</dc:publisher><dc:date>1895</dc:date>"
    )
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page("<p>a</p>")}, package=opf(["a.xhtml"], metadata=metadata)))
    assert (book.title, book.authors, book.language) == ("The Book", ("Ben & Co", "Ann"), "en-GB")
    assert (book.publisher, book.date) == ("House", "1895")


@pytest.mark.parametrize(
    ("manifest", "metadata", "guide"),
    [
        ('<item id="p" href="p.png" media-type="image/png" properties="cover-image"/>', "", ""),
        ('<item id="p" href="p.png" media-type="image/png"/>', '<meta name="cover" content="p"/>', ""),
        ("", "", '<reference type="cover" href="cover.xhtml"/>'),
    ],
)
def test_the_cover(tmp_path: Path, manifest: str, metadata: str, guide: str) -> None:
    package = opf(["a.xhtml"], manifest=manifest, metadata=metadata, guide=guide)
    pages = {"a.xhtml": page("<p>a</p>"), "cover.xhtml": page("<img src='p.png'/>"), "p.png": PNG}
    cover = read_manuscript(epub(tmp_path, pages, package=package)).cover
    assert cover is not None
    assert (cover.media_type, cover.data) == ("image/png", PNG)


def test_a_cover_that_is_no_picture_is_noted(tmp_path: Path) -> None:
    manifest = '<item id="p" href="p.svg" media-type="image/svg+xml" properties="cover-image"/>'
    pages = {"a.xhtml": page("<p>a</p>"), "p.svg": "<svg/>"}
    book = read_manuscript(epub(tmp_path, pages, package=opf(["a.xhtml"], manifest=manifest)))
    assert book.cover is None
    assert any("p.svg" in note for note in book.notes)


def test_without_a_container_the_only_package_is_read(tmp_path: Path) -> None:
    path = epub(tmp_path, {"a.xhtml": page("<p>a</p>")}, more={"META-INF/container.xml": "<container/>"})
    assert all_text(read_manuscript(path)) == "a"


def test_a_package_with_faults_is_mended(tmp_path: Path) -> None:
    package = opf(["a.xhtml"], metadata="<dc:title>Tom & Jerry &eacute;</dc:title><x:y>") + "<!-- end"
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page("<p>a</p>")}, package=package))
    assert book.title == "Tom & Jerry é"


def test_of_several_rootfiles_the_first_that_is_a_package_is_read(tmp_path: Path) -> None:
    rootfiles = "".join(f'<rootfile full-path="{name}"/>' for name in ("a.pdf", "OPS/package.opf", "other/package.opf"))
    more = {
        "META-INF/container.xml": f"<container><rootfiles>{rootfiles}</rootfiles></container>",
        "a.pdf": "%PDF-",
        "other/package.opf": opf(["b.xhtml"]),
        "other/b.xhtml": page("<p>b</p>"),
    }
    assert all_text(read_manuscript(epub(tmp_path, {"a.xhtml": page("<p>a</p>")}, more=more))) == "a"


def test_without_a_container_the_package_that_lies_highest_is_read(tmp_path: Path) -> None:
    more = {"META-INF/container.xml": "<container/>", "OPS/old/package.opf": opf([])}
    assert all_text(read_manuscript(epub(tmp_path, {"a.xhtml": page("<p>a</p>")}, more=more))) == "a"


def test_text_outside_the_spine_is_listed(tmp_path: Path) -> None:
    pages = {"a.xhtml": page("<p>a</p>"), "b.xhtml": page("<p>Lost.</p>"), "nav.xhtml": nav(lines(("A", "a.xhtml")))}
    book = read_manuscript(epub(tmp_path, pages, package=opf(list(pages), spine=["a.xhtml"])))
    listed = {(left.text, left.reason) for left in book.left_out if left.span.file == "OPS/b.xhtml"}
    assert listed == {("t Lost.", "not in the reading order")}
    assert any(left.reason == "navigation" for left in book.left_out)


def test_equal_titles_are_told_apart_by_their_parts(tmp_path: Path) -> None:
    pages = {f"{name}.xhtml": page(f"<p>{name}</p>") for name in "abcd"}
    entries = "".join(
        f"<li><span>{part}</span><ol>{lines(('Chapter 1', f'{first}.xhtml'), (name, f'{second}.xhtml'))}</ol></li>"
        for part, first, second, name in (("Part One", "a", "b", "Chapter 2"), ("Part Two", "c", "d", "Chapter 3"))
    )
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(entries)}))
    assert titles(book) == ["Part One: Chapter 1", "Chapter 2", "Part Two: Chapter 1", "Chapter 3"]


def test_parts_and_chapters_by_headings_alone(tmp_path: Path) -> None:
    body = "".join(
        f"<h1>Part {part}</h1><h2>Chapter 1</h2><p>a</p><h3>x</h3><h2>Chapter 2</h2><p>b</p>" for part in ("One", "Two")
    )
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page(body)}))
    assert titles(book) == [f"Part {part}: Chapter {number}" for part in ("One", "Two") for number in (1, 2)]
    assert texts(book.chapters[2]) == ["Part Two", "Chapter 1", "a", "x"]


def test_headings_divide_what_the_contents_list_as_one(tmp_path: Path) -> None:
    body = "".join(f"<h2>Chapter {number}</h2><p>{'word ' * 600}</p>" for number in range(1, 5))
    pages = {"t.xhtml": page("<p>Mine</p>"), "a.xhtml": page(body), "z.xhtml": page("<p>Fin</p>")}
    entries = lines(("Front", "t.xhtml"), ("Start", "a.xhtml"), ("Back", "z.xhtml"))
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(entries)}))
    assert titles(book) == ["Front", "Start", "Chapter 2", "Chapter 3", "Chapter 4", "Back"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("He came to the", "Tower at last.", [False, True]),
        ("He met Mr.", "Lorry there.", [False, True]),
        ("Yours truly", "Ann", [False, False]),
        ("It ended.", "Then it began.", [False, False]),
    ],
)
def test_a_sentence_goes_on_before_a_capital_only_where_it_must(
    tmp_path: Path, before: str, after: str, expected: list[bool]
) -> None:
    pages = {"a.xhtml": page(f"<p>{before}</p>"), "b.xhtml": page(f"<p>{after}</p>")}
    book = read_manuscript(epub(tmp_path, {**pages, "nav.xhtml": nav(lines(("A", "a.xhtml")))}))
    assert [block.continues for block in book.chapters[0].blocks] == expected


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("He knew the exam-", "ple well.", ["He knew the example", "well."]),
        ("He knew the exam\u00ad", "ple well.", ["He knew the example", "well."]),
        ("She is well-", "known here.", ["She is well-known", "here."]),
        ("He knew the exam-", "ple", ["He knew the example"]),
    ],
)
def test_a_word_cut_by_a_file_border_is_whole(tmp_path: Path, before: str, after: str, expected: list[str]) -> None:
    more = "<p>An old example was shown.</p><p>All is well as is known to all.</p>"
    pages = {"a.xhtml": page(f"<p>{before}</p>"), "b.xhtml": page(f"<p>{after}</p>{more}")}
    path = epub(tmp_path, {**pages, "nav.xhtml": nav(lines(("A", "a.xhtml")))})
    book = read_manuscript(path)
    assert texts(book.chapters[0])[: len(expected)] == expected
    check_book(book, path)


@pytest.mark.parametrize("mode", ["skip", "inline", "end"])
def test_notes_in_another_file(tmp_path: Path, mode: Notes) -> None:
    mark = "<a epub:type='noteref' href='n.xhtml#n{0}'>{0}</a>"
    pages = {
        "a.xhtml": page(f"<h1>A</h1><p>a{mark.format(1)}</p><p>b{mark.format(2)}</p><p>c</p>"),
        "b.xhtml": page(f"<h1>B</h1><p>d{mark.format(3)}</p>"),
        "n.xhtml": page(
            "<h1>Notes</h1><aside epub:type='endnotes'>"
            + "".join(f"<p epub:type='endnote' id='n{number}'>{number}. Note {number}.</p>" for number in range(1, 5))
            + "</aside>"
        ),
    }
    package = opf(["nav.xhtml", *pages], spine=list(pages))
    pages["nav.xhtml"] = nav(lines(("A", "a.xhtml"), ("B", "b.xhtml"), ("Notes", "n.xhtml")))
    path = epub(tmp_path, pages, package=package)
    book = read_manuscript(path, Reading(notes=mode))
    one, two, three = (f"Note. Note {number}." for number in (1, 2, 3))
    assert (
        texts(book.chapters[0])
        == {
            "skip": ["A", "a", "b", "c"],
            "inline": ["A", "a", one, "b", two, "c"],
            "end": ["A", "a", "b", "c", one, two],
        }[mode]
    )
    assert texts(book.chapters[1]) == ["B", "d", *([] if mode == "skip" else [three])]
    assert (book.chapters[2].kept, book.chapters[2].matter) == (False, "notes")
    assert "Note 4" in " ".join(left.text for left in book.left_out)
    check_book(book, path)


@pytest.mark.parametrize("where", ["linear", "manifest"])
def test_notes_outside_the_reading_order(tmp_path: Path, where: str) -> None:
    pages = {
        "a.xhtml": page("<p>a<a epub:type='noteref' href='n.xhtml#n'>1</a></p>"),
        "n.xhtml": page("<p>Head</p><aside epub:type='footnote' id='n'>Told.</aside><p>Foot</p>"),
    }
    spine = ["a.xhtml"] if where == "manifest" else None
    path = epub(tmp_path, pages, package=opf(list(pages), spine=spine, linear={"n.xhtml": "no"}))
    assert all_text(read_manuscript(path)) == "a"
    book = read_manuscript(path, Reading(notes="inline"))
    assert all_text(book) == "a Note. Told."
    check_book(book, path)


@pytest.mark.parametrize(
    ("language", "before"), [("de-AT", "Anmerkung. "), ("es", "Nota. "), ("ru", ""), ("en-GB", "Note. ")]
)
def test_what_is_said_before_a_note_is_of_the_books_language(tmp_path: Path, language: str, before: str) -> None:
    body = "<p>a<a epub:type='noteref' href='#n'>1</a></p><aside epub:type='footnote' id='n'>b</aside>"
    package = opf(["a.xhtml"], metadata=f"<dc:title>A</dc:title><dc:language>{language}</dc:language>")
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page(body)}, package=package), Reading(notes="inline"))
    assert all_text(book) == f"a {before}b"


@pytest.mark.parametrize(
    "css", [b"\xff\xfe" + ".x{display:none}".encode("utf-16-le"), b"p { color: } } b } .x{display:none}"]
)
def test_odd_style_sheets_are_followed_as_far_as_they_can_be(tmp_path: Path, css: bytes) -> None:
    links = '<link rel="stylesheet" href="gone.css"/><link rel="stylesheet" href="a.css"/></head>'
    text = page("<p class='x'>a</p><p>b</p>").replace("</head>", links)
    book = read_manuscript(epub(tmp_path, {"a.xhtml": text, "a.css": css}, package=opf(["a.xhtml"])))
    assert all_text(book) == ("b" if css[:1] == b"\xff" else "a b")


def test_style_sheets_of_a_book_hide_text(tmp_path: Path) -> None:
    links = '<link rel="stylesheet" href="../css/main.css"/><link rel="alternate stylesheet" href="../css/alt.css"/>'
    body = "<p>a<i class='gone'>b</i><i class='alt'>c</i><i class='deep'>d</i></p>"
    text = page(body).replace("</head>", f'{links}<link rel="stylesheet" media="print" href="../css/alt.css"/></head>')
    more = {
        "css/main.css": "@import url('deep.css');\n.gone { display: none }",
        "css/alt.css": ".alt { display: none }",
        "css/deep.css": ".deep { visibility: hidden }",
    }
    path = epub(tmp_path, {"a.xhtml": text}, more=more)
    assert all_text(read_manuscript(path)) == "ac"


def test_style_sheets_that_import_each_other_end(tmp_path: Path) -> None:
    text = page("<p class='x'>a</p>").replace("</head>", '<link rel="stylesheet" href="a.css"/></head>')
    sheets = {
        "a.css": '@import "b.css"; @import "a.css";',
        "b.css": '@import "a.css"; @import "b.css"; p {float: none}',
    }
    assert all_text(read_manuscript(epub(tmp_path, {"a.xhtml": text, **sheets}, package=opf(["a.xhtml"])))) == "a"


def test_formulas_without_words_are_noted(tmp_path: Path) -> None:
    formula = "<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>"
    book = read_manuscript(epub(tmp_path, {"a.xhtml": page(f"<p>a {formula} b {formula}</p>")}))
    assert all_text(book) == "a b"
    assert [note for note in book.notes if "2 formulas" in note]


@pytest.mark.parametrize("mode", ["inline", "end"])
def test_a_note_whose_mark_is_not_heard_is_not_lost(tmp_path: Path, mode: Notes) -> None:
    def mark(number: int) -> str:
        return f"<a epub:type='noteref' href='#n{number}'>{number}</a>"

    def note(number: int, text: str) -> str:
        return f"<aside epub:type='footnote' id='n{number}'>{text}</aside>"

    notes = note(1, f"One.{mark(2)}") + note(2, "Two.") + note(3, "Three.")
    body = f"<p>a{mark(1)}</p><p hidden=''>b{mark(3)}</p>{notes}"
    path = epub(tmp_path, {"a.xhtml": page(body)})
    book = read_manuscript(path, Reading(notes=mode))
    assert texts(book.chapters[0]) == ["a", "Note. One.", "Note. Two.", "Note. Three."]
    check_book(book, path)
