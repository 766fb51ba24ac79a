"""No word is lost, doubled or moved, whatever the markup."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.manuscript.chapters import divide
from pipeline.manuscript.html import read_tree
from pipeline.manuscript.markup import parse_markup
from pipeline.manuscript.reading import Notes, Reading

from .build import page
from .spans import check_spans

BLOCKS = ["p", "div", "blockquote", "h1", "h4", "li", "td", "center", "section", "figcaption", "dd", "pre"]
INLINE = ["span", "em", "b", "a", "font", "odd", "sup", "small", "div class='poem'", "span class='line'"]
LEFT_OUT = ["aside epub:type='footnote'", "span hidden=''", "script", "rt", "nav", "span epub:type='pagebreak'"]
VOID = ["<br/>", "<hr/>", "<img src='x' alt='no'/>", "<!-- no -->", "<?no no?>", "<wbr/>", " ", "\n", "&nbsp;"]

word = st.just("W ")  # numbered once the tree stands
tag = st.sampled_from(BLOCKS + INLINE)


def element(name: str, inside: str) -> str:
    return f"<{name}>{inside}</{name.split()[0]}>"


def joined(parts: list[str]) -> str:
    return "".join(parts)


hidden = st.builds(element, st.sampled_from(LEFT_OUT), st.lists(st.just("L "), max_size=3).map(joined))
tree = st.recursive(
    st.one_of(word, word, hidden, st.sampled_from(VOID)),
    lambda inner: st.builds(element, tag, st.lists(inner, max_size=5).map(joined)),
    max_leaves=40,
)


def numbered(markup: str) -> tuple[str, list[str], list[str]]:
    """Give each word its number, so that every one is known: w0 w1 … are visible, l0 l1 … are not."""
    counts: dict[str, Iterator[int]] = {"W ": itertools.count(), "L ": itertools.count()}
    words: dict[str, list[str]] = {"W ": [], "L ": []}
    result = ""
    for part in markup.replace("W ", "\0W \0").replace("L ", "\0L \0").split("\0"):
        if part in counts:
            words[part].append(f"{part[0].lower()}{next(counts[part])}")
            result += words[part][-1] + " "
        else:
            result += part
    return result, words["W "], words["L "]


@settings(max_examples=300, deadline=None)
@given(st.lists(tree, max_size=6).map(joined), st.booleans())
def test_every_visible_word_once_and_in_order(markup: str, is_xml: bool) -> None:
    markup, visible, left_out = numbered(markup)
    source = page(markup)
    root = parse_markup((source if is_xml else source.replace("</body>", "</b></body>")).encode())
    assert root is not None
    document = read_tree(root, "a.xhtml")
    assert " ".join(block.text for block in document.blocks).split() == visible
    listed = [word for left in document.left_out for word in left.text.split() if word.startswith("l")]
    assert listed == left_out
    check_spans(root, document.blocks, document.left_out)


MORE = [
    *("ol", "ol start='4'", "li value='7'", "table", "tr", "th", "div class='dropcap'", "p class='chapter'", "hr"),
    *("section epub:type='endnotes'", "p id='n1'", "aside epub:type='footnote' id='n2'", "dt id='n3'", "li id='n4'"),
    *("a href='#n1' id='r1'", "a href='#n2' epub:type='noteref'", "sup", "sub", "a href='#r1'", "a href='#n4'"),
    *("math", "math alttext='x'", "mi", "div class='poem'", "div hidden=''", "i style='display:none'", "svg", "text"),
]
text = st.sampled_from(
    ["word ", "1", "12", "[", "]", "* ", "Chapter One", "a", "T", ". ", "#", "10", " ", "<br/>", "<img alt='T'/>"]
)
wild = st.recursive(
    text,
    lambda inner: st.builds(element, st.sampled_from(MORE + BLOCKS), st.lists(inner, max_size=5).map(joined)),
    max_leaves=40,
)


@settings(max_examples=400, deadline=None)
@given(st.lists(wild, max_size=8).map(joined), st.sampled_from(["skip", "inline", "end"]))
def test_every_character_is_accounted_for_whatever_the_notes(markup: str, mode: Notes) -> None:
    root = parse_markup(page(markup).encode())
    assert root is not None
    document = read_tree(root, "a.xhtml", reads_notes=mode != "skip")
    chapters = divide([document], reading=Reading(notes=mode))
    check_spans(root, [block for chapter in chapters for block in chapter.blocks], document.left_out)
