"""A book's chapters on their way from takes to files: which are current, which are being stitched."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.beside import Beside
from pipeline.master.aac import encode_chapter
from pipeline.master.stitcher import (
    ChapterTags,
    MasterRules,
    Part,
    book_gain_db,
    chapter_digest,
    stitch_chapter,
)
from pipeline.render.store import Store
from pipeline.script.script import Boundary, Chunk, Script, ScriptChapter

_AAC_FORM = 1  # raised when encoding changes, so that old files are made anew


@dataclass(frozen=True, slots=True)
class _Work:
    """A chapter's files in the making, each with what it is made of; the future is of its length in samples."""

    files: tuple[tuple[Path, str], ...]
    num_samples: Future[int]


class ChapterMaster:
    """Has chapters stitched, and encoded, beside the loop; records them from the loop's own thread.

    `num_first` chunks of the book set its gain; no chapter may be submitted before they are resolved.
    `aac_kbps` is None where no m4b is wanted.
    """

    def __init__(
        self,
        script: Script,
        store: Store,
        beside: Beside,
        rules: MasterRules,
        gap_ms: Callable[[Boundary], int],
        sample_rate: int,
        narrator: str,
        num_first: int,
        aac_kbps: int | None,
    ) -> None:
        self._store = store
        self._beside = beside
        self._rules = rules
        self._gap_ms = gap_ms
        self._sample_rate = sample_rate
        self._narrator = narrator
        self._first: Sequence[Chunk] = script.chunks[:num_first]
        self.hold(script)
        self._gain_db: float | None = None
        self._aac_kbps = aac_kbps
        self._work: deque[_Work] = deque()

    def submit(self, index: int, accepted: Mapping[str, int]) -> None:
        """Stitch a chapter from its accepted takes (attempt by key), unless its file is current."""
        if self._gain_db is None:
            takes = [self._store.take(c.key, accepted[c.key]) for c in self._first if c.key in accepted]
            self._gain_db = book_gain_db([take.level for take in takes], self._rules)
        chapter = self._chapters[index]
        parts = [
            Part(
                self._store.take(chunk.key, accepted[chunk.key]) if chunk.key in accepted else None,
                self._gap_ms(chunk.ends),
            )
            for chunk in chapter.chunks
        ]
        flac, tags = self.flac(chapter), self._tags(chapter)
        digest = chapter_digest(parts, self._gain_db, self._rules, tags, self._sample_rate)
        is_stitched = self._store.is_current(flac, digest)
        m4a, aac_digest = self.m4a(chapter), f"{digest} aac {_AAC_FORM} {self._aac_kbps}"
        is_encoded = self._aac_kbps is None or (is_stitched and self._store.is_current(m4a, aac_digest))
        stitch = None if is_stitched else (parts, self._gain_db, self._rules, tags, self._sample_rate, flac)
        encode = None if is_encoded else (flac, m4a, self._aac_kbps)
        files = [(flac, digest)] * (not is_stitched) + [(m4a, aac_digest)] * (not is_encoded)
        if files:
            self._work.append(_Work(tuple(files), self._beside.submit(_make_files, stitch, encode)))

    def hold(self, script: Script) -> None:
        """A script in place of the one there was: one without text, once all chapters are submitted."""
        self._script = script
        self._chapters = {chapter.index: chapter for chapter in script.chapters if chapter.kept}
        self._first = self._first if script.chunks else ()

    def collect(self) -> None:
        """Record the files that are done. Raises `OutputError`."""
        while self._work and self._work[0].num_samples.done() and not self._work[0].num_samples.cancelled():
            work = self._work.popleft()
            for path, digest in work.files:
                self._store.record_file(path, digest, work.num_samples.result() if path.suffix == ".flac" else 0)

    @property
    def is_busy(self) -> bool:
        """Whether files are being made, or are made and not recorded."""
        return bool(self._work)

    def flac(self, chapter: ScriptChapter) -> Path:
        """Numbered so that any player, shop or shell keeps the order; the title is in the file's tags."""
        width = max(3, len(str(len(self._script.chapters))))
        return self._store.folder / "chapters" / f"{chapter.index:0{width}}.flac"

    def m4a(self, chapter: ScriptChapter) -> Path:
        """The chapter as AAC, of which the m4b is put together."""
        return self.flac(chapter).with_suffix(".m4a")

    def _tags(self, chapter: ScriptChapter) -> ChapterTags:
        return ChapterTags(
            title=chapter.title,
            book=self._script.title,
            authors=", ".join(self._script.authors),
            narrator=self._narrator,
            number=chapter.index,
        )


def _make_files(stitch: tuple[Any, ...] | None, encode: tuple[Path, Path, int] | None) -> int:
    """Stitch a chapter, encode it, or both; returns its length in samples if it was stitched."""
    num_samples = stitch_chapter(*stitch) if stitch else 0
    if encode:
        flac, m4a, kbps = encode
        encode_chapter(flac, m4a, kbps=kbps)
    return num_samples
