"""One file of a manuscript, read: what every format's reader hands to `chapters`."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from pipeline.manuscript.book import Block, LeftOut
from pipeline.manuscript.proof import Source


@dataclass(slots=True)
class Matter:
    """What an element says it is, its first block and the one after its last.

    `around` is the index of the matter in which it lies, -1 where there is none.
    """

    kind: str
    first: int
    end: int
    around: int


@dataclass(slots=True)
class Document:
    """Blocks in reading order, and the marks at which chapters may begin."""

    file: str
    blocks: list[Block] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    levels: dict[int, int] = field(default_factory=dict)
    """Index of a heading's block to its level, 1 to 6. A title's second line is a heading without a level."""
    anchors: dict[str, int] = field(default_factory=dict)
    """Id of an element to the index of the block it lies in or before."""
    matter: list[Matter] = field(default_factory=list)
    """Front and back matter that elements say they are, in the order in which they begin."""
    marks: dict[int, list[str]] = field(default_factory=dict)
    """Index of a block to the keys of the notes whose marks stand in it."""
    notes: dict[str, list[Block]] = field(default_factory=dict)
    """Key of a note to its blocks, where notes are read."""
    linked: dict[int, int] = field(default_factory=dict)
    """Index of a block to how many of its characters lie in links within the manuscript."""
    opening: str = ""
    """The beginning of the first text as it stands in the source."""
    closing: str = ""
    """The end of the last text as it stands in the source, without the white space after it."""
    has_pictures: bool = False
    source: Source = field(default_factory=lambda: Source("", {}))
    """The whole text that spans are places in."""
    faults: list[str] = field(default_factory=list)
    """Sentences about what can't be read."""

    def matter_of(self, first: int, end: int) -> str:
        """What kind of front or back matter all blocks from `first` up to `end` are, or an empty string."""
        number = bisect_right(self.matter, first, key=lambda matter: matter.first) - 1
        while number >= 0:
            matter = self.matter[number]
            if end <= matter.end:
                return matter.kind
            number = matter.around  # elements lie within each other, so none but those around may reach further
        return ""
