"""A book's chapters on their way from takes to files: which are current, which are being stitched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class _Stitching:
    path: Path
    digest: str
    num_samples: Future[int]


class ChapterMaster:
    """Stitches chapters in a thread beside the loop, and records them from the loop's own.

    `num_first` chunks of the book set its gain; no chapter may be submitted before they are resolved.
    """

    def __init__(
        self,
        script: Script,
        store: Store,
        rules: MasterRules,
        gap_ms: Callable[[Boundary], int],
        sample_rate: int,
        narrator: str,
        num_first: int,
    ) -> None:
        self._script = script
        self._store = store
        self._rules = rules
        self._gap_ms = gap_ms
        self._sample_rate = sample_rate
        self._narrator = narrator
        self._first: Sequence[Chunk] = script.chunks[:num_first]
        self._chapters = {chapter.index: chapter for chapter in script.chapters if chapter.kept}
        self._gain_db: float | None = None
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="stitcher")
        self._stitching: list[_Stitching] = []
        self.num_stitched = 0

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
        path, tags = self.path(chapter), self._tags(chapter)
        digest = chapter_digest(parts, self._gain_db, self._rules, tags, self._sample_rate)
        if self._store.is_current(path, digest):
            return
        work = self._executor.submit(stitch_chapter, parts, self._gain_db, self._rules, tags, self._sample_rate, path)
        self._stitching.append(_Stitching(path, digest, work))

    def collect(self, *, wait: bool = False) -> None:
        """Record the chapters that are done; with `wait`, all that were submitted. Raises `OutputError`."""
        left = []
        for stitching in self._stitching:
            if wait or stitching.num_samples.done():
                num_samples = stitching.num_samples.result()
                self._store.record_file(stitching.path, stitching.digest, num_samples)
                self.num_stitched += 1
            else:
                left.append(stitching)
        self._stitching = left

    def close(self) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)

    def path(self, chapter: ScriptChapter) -> Path:
        """Numbered so that any player, shop or shell keeps the order; the title is in the file's tags."""
        width = max(3, len(str(len(self._script.chapters))))
        return self._store.folder / "chapters" / f"{chapter.index:0{width}}.flac"

    def _tags(self, chapter: ScriptChapter) -> ChapterTags:
        return ChapterTags(
            title=chapter.title,
            book=self._script.title,
            authors=", ".join(self._script.authors),
            narrator=self._narrator,
            number=chapter.index,
        )
