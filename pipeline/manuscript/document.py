"""One file of a manuscript, read: what every format's reader hands to `chapters`."""

from __future__ import annotations

from dataclasses import dataclass, field

from pipeline.manuscript.book import Block, LeftOut


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
    matter: list[tuple[str, int, int]] = field(default_factory=list)
    """Front and back matter: what it is, its first block, and the one after its last."""
    has_pictures: bool = False

    def matter_of(self, first: int, end: int) -> str:
        """What kind of front or back matter all blocks from `first` up to `end` are, or an empty string."""
        return next((reason for reason, start, stop in self.matter if start <= first and end <= stop), "")
