"""What the narrator says: the types between the manuscript and the engines. They know no model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from pipeline.script.rewriting import Rewriting


class Boundary(StrEnum):
    """What a chunk ends at. It gives the gap after it (`gaps_ms` in the profile), weakest first."""

    CLAUSE = "clause"
    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    SCENE = "scene"
    CHAPTER = "chapter"


@dataclass(frozen=True, slots=True)
class TextSpan:
    """Characters `start` to `end` of the spoken text of block number `block` of a chapter."""

    block: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """What an engine is given at once: whole sentences where the budget allows it.

    `text` is as spoken, `prepared` what the model is really given, `num_tokens` counts the latter.
    `spans` are in the chapter's spoken blocks, in order. `key` hashes all that changes the sound.
    """

    key: str
    text: str
    prepared: str
    num_tokens: int
    spans: tuple[TextSpan, ...]
    chapter: int
    index: int
    ends: Boundary
    findings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Unspoken:
    """A piece of spoken text that no chunk says, since there is no letter or digit in it."""

    text: str
    span: TextSpan


@dataclass(frozen=True, slots=True)
class ScriptChapter:
    """`spoken` holds the spoken text of each block, and `rewritings` how it differs from the text as written.

    `kept` is False where `reason` says why not.
    """

    index: int
    title: str
    kept: bool
    reason: str
    spoken: tuple[str, ...]
    rewritings: tuple[tuple[Rewriting, ...], ...]
    chunks: tuple[Chunk, ...]
    unspoken: tuple[Unspoken, ...]

    @property
    def num_words(self) -> int:
        return sum(len(text.split()) for text in self.spoken)


@dataclass(frozen=True, slots=True)
class Script:
    """A whole book as it will be spoken."""

    title: str
    authors: tuple[str, ...]
    language: str
    chapters: tuple[ScriptChapter, ...]

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """All chunks of the kept chapters, in reading order."""
        return tuple(chunk for chapter in self.chapters if chapter.kept for chunk in chapter.chunks)

    def without_text(self) -> Script:
        """Its chapters by their titles alone."""
        bare = (replace(one, spoken=(), rewritings=(), chunks=(), unspoken=()) for one in self.chapters)
        return replace(self, chapters=tuple(bare))
