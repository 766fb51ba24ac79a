"""How a manuscript is to be read, where its author can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Notes = Literal["skip", "inline", "end"]


@dataclass(frozen=True, slots=True)
class Reading:
    """`notes`: footnotes and endnotes are left out, read where their mark stands, or at their chapter's end.

    `as_book` lets a folder of manuscripts be read as one book.
    """

    notes: Notes = "skip"
    as_book: bool = False
