"""Which tables are read row by row, and which only set text side by side."""

from __future__ import annotations

from lxml import etree

from pipeline.manuscript.markup import local_name

_CELLS = frozenset(["td", "th"])
_LAYOUT = frozenset(
    ["table", "ul", "ol", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "hr", "pre", "figure"]
)
_BLOCKS = frozenset(["p", "div", "section"])
_MAX_CELL_CHARS = 240


def is_data_table(table: etree._Element) -> bool:
    """Whether each cell is a word, a number or a short phrase, and some row has two of them.

    A table that holds lists, headings, other tables or whole paragraphs is made for layout: its cells are read one
    after the other, each as what it holds.
    """
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return False
    num_cells = num_blocks = num_chars = most_cells = 0
    for event, element in etree.iterwalk(table, events=("start", "end")):
        tag = local_name(element)
        raw = element.text if event == "start" else element.tail if element is not table else None
        if event == "start" and tag in _LAYOUT and element is not table:
            return False
        if event == "start" and tag == "tr":
            num_cells = 0
        if event == "start" and tag in _CELLS:
            num_cells, num_blocks, num_chars = num_cells + 1, 0, 0
            most_cells = max(most_cells, num_cells)
        num_blocks += event == "start" and tag in _BLOCKS
        num_chars += len(" ".join(raw.split())) if raw else 0
        if num_blocks > 1 or num_chars > _MAX_CELL_CHARS:
            return False
    return most_cells > 1
