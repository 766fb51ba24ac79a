"""One book on its way: from a plan through backlog and chapters to the files that listeners get."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pipeline.beside import Beside
from pipeline.engines import registry
from pipeline.engines.base import Failed, Frontend, RawTake
from pipeline.folder import check_folder, write_job, write_json
from pipeline.master.chapters import ChapterMaster
from pipeline.master.deliver import Packed, Tags, pack_m4b
from pipeline.master.stitcher import join_takes
from pipeline.plan import Plan, find_chunk
from pipeline.render.backlog import Backlog, Composite, RenderRules
from pipeline.render.judge import make_take
from pipeline.render.loop import Tally
from pipeline.render.replica import ReplicaSpec
from pipeline.render.store import Store, hold_folder, note_holder, open_store
from pipeline.render.takes import Finding, Take
from pipeline.review.report import Missing, Report, write_report
from pipeline.staff import Staff


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a book is, after each outcome."""

    folder: Path
    book: str
    num_done: int
    num_chunks: int
    chapter: str
    audio_seconds: float
    """Rendered in this run."""


OnProgress = Callable[[Progress], None]
OnMessage = Callable[[str], None]


class Line:
    """A book while its folder is held. `tend` and `close` are called by the loop's thread alone."""

    def __init__(
        self,
        plan: Plan,
        staff: Staff,
        beside: Beside,
        on_progress: OnProgress,
        on_message: OnMessage,
    ) -> None:
        self.plan = plan
        self._beside = beside
        self._on_progress = on_progress
        self._started = time.monotonic()
        self._tally = Tally()
        self._packing: tuple[Future[Packed], str] | None = None
        self._packed: Packed | None = None
        self._frontend = registry.open_frontend(plan.voice)
        sample_rate = self._frontend.spec.sample_rate
        self._titles = {chapter.index: chapter.title for chapter in plan.script.chapters}
        self._is_done = False
        self._num_replicas = 0
        self._begun_at = time.time()
        asked_again = [find_chunk(plan.script, wanted) for wanted in plan.job.redo]
        check_folder(plan.folder, plan.stem, plan.book, plan.job.source)
        if not plan.voice.is_for_sale:
            on_message(f"The voice {plan.voice.name} ({plan.voice.licence}): this audiobook may not be sold.")
        self.judge = plan.profile.judge_rules()
        digest = hashlib.sha256(repr(self.judge).encode()).hexdigest()[:20]
        with ExitStack() as held:
            held.enter_context(hold_folder(plan.folder))
            self.store = held.enter_context(open_store(plan.folder, digest))
            write_job(plan.folder, plan.job, plan.book, plan.formats)
            write_json(plan.folder / "script.json", plan.as_dict())
            damaged = self.store.forget_damaged()
            if damaged:
                on_message(f"{len(damaged)} takes on disk were damaged or missing: what is needed is rendered again.")
            self._tally.num_again = self.store.note_lost()
            self.store.ask_again(asked_again)
            self.backlog = _open_backlog(plan, self.store, self._frontend)
            self._num_reused = len(self.backlog.accepted())
            self._master = _open_master(plan, self.store, beside, sample_rate)
            self.spec = _spec(plan, staff, sample_rate)
            for chapter in self.backlog.finished_chapters():
                self.on_chapter(chapter)
            self._held = held.pop_all()
        # All that is read of it is in the script; up to 32 books wait for the stitcher.
        self.plan = replace(plan, book=replace(plan.book, chapters=(), left_out=()))

    def on_outcome(self, outcome: Take | Failed) -> None:
        self._tally.add(outcome, is_listed=self.backlog.is_listed(outcome.key))
        chapter = self.backlog.chapter_of(outcome.key)
        self._on_progress(
            Progress(
                self.plan.folder,
                self.plan.script.title,
                self.backlog.num_resolved,
                self.backlog.num_chunks,
                f"{chapter} {self._titles[chapter]}",
                self._tally.audio_seconds,
            )
        )

    def on_chapter(self, index: int) -> None:
        self._master.submit(index, self.backlog.accepted())

    def compose(self, composite: Composite) -> Take:
        """The takes of a split chunk's parts as one take, which no judge refuses: its parts were judged."""
        takes = [self.store.take(key, attempt) for key, attempt in composite.parts]
        gap_ms = self.plan.profile.gaps_ms.after(composite.inner_ends)
        samples = join_takes(takes, gap_ms, self.plan.profile.master.rules())
        raw = RawTake(composite.key, composite.attempt, "eos", samples, num_frames=0)
        note = Finding("a-010", f"put together from {len(takes)} parts", "note")
        return make_take(raw, self._frontend.spec.sample_rate, self.judge, (note,))

    def note_replicas(self, number: int) -> None:
        """Say in the folder how many replicas are alive, for `status`."""
        if number != self._num_replicas:
            self._num_replicas = number
            note_holder(self.plan.folder, self._begun_at, number)

    def tend(self) -> bool:
        """Record what was made beside the loop, and pack the book once all of it is there; whether it is finished."""
        self._master.collect()
        if self.backlog.is_open():
            return False
        if self.plan.script.chunks:
            self._forget_text()
        if self._master.is_busy:
            return False
        if self._packing is None and not self._is_done:
            self._packing = self._begin_to_pack()
        if self._packing is not None:
            future, digest = self._packing
            if not future.done():
                return False
            self._packed = future.result()
            self.store.record_file(self._m4b, digest, self._packed.marks[-1].end)
            self._packing = None
        if not self._is_done:
            self._is_done = True
            if self.plan.job.chapters is None:
                m4as = (self._master.m4a(chapter) for chapter in self.plan.kept_chapters)
                self.store.remove_stale_files([*self._made_files(), *m4as])
        return True

    def close(self, slots_filled: float | None) -> Report:
        """Write the report, finished or not, and let go of the folder."""
        with self._held:
            self._master.collect()
            report = self._report(slots_filled)
            write_report(report, self.plan.folder / "report.json")
        return report

    def abandon(self) -> None:
        """Let go of the folder of a book that has failed; the next run goes on from its ledger."""
        self._held.close()

    def _forget_text(self) -> None:
        """All its chapters are submitted: let go of what a book weighs most while up to 32 wait for the stitcher."""
        self.plan = replace(self.plan, script=self.plan.script.without_text())
        self._master.hold(self.plan.script)
        self.backlog.forget_chunks()

    @property
    def _m4b(self) -> Path:
        return self.plan.folder / f"{self.plan.stem}.m4b"

    def _begin_to_pack(self) -> tuple[Future[Packed], str] | None:
        """Have the chapters packed as an m4b if one is wanted, unless it is there and made from the same."""
        plan = self.plan
        if "m4b" not in plan.formats:
            return None
        chapters = [(c.title, self._master.m4a(c)) for c in plan.kept_chapters]
        cover = plan.book.cover
        tags = Tags(
            title=plan.book.title,
            authors=plan.book.authors,
            narrator=plan.voice.name,
            language=plan.book.language,
            publisher=plan.book.publisher,
            date=plan.book.date,
            cover=(cover.media_type, cover.data) if cover else None,
        )
        made_of = [self.store.sha256(file) for _, file in chapters], [title for title, _ in chapters], repr(tags)
        digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
        if self.store.is_current(self._m4b, digest):
            return None
        return self._beside.submit(pack_m4b, chapters, tags, self._m4b), digest

    def _made_files(self) -> list[Path]:
        """The m4b, if one is wanted, and the chapters' FLACs."""
        m4b = [self._m4b] if "m4b" in self.plan.formats else []
        return [*m4b, *(self._master.flac(chapter) for chapter in self.plan.kept_chapters)]

    def _report(self, slots_filled: float | None) -> Report:
        plan, backlog, tally = self.plan, self.backlog, self._tally
        if self._is_done:
            lengths = [self.store.num_samples(self._master.flac(chapter)) for chapter in plan.kept_chapters]
            audio_seconds = sum(lengths) / self._frontend.spec.sample_rate
        else:
            seconds = self.store.seconds_by_key()
            audio_seconds = sum(seconds[key] for key in backlog.accepted())
        wanted = [file for file in self._made_files() if file.suffix[1:] in plan.formats]
        redos = [
            f"The redo of {listed.chunk.key} failed ({listed.reason}): the take from before stays."
            for listed in backlog.failed_redos()
        ]
        return Report(
            title=plan.script.title,
            folder=str(plan.folder),
            files=tuple(str(file) for file in wanted) if self._is_done else (),
            num_chapters=len(plan.kept_chapters),
            num_chunks=backlog.num_chunks,
            num_rendered=tally.num_rendered,
            num_reused=self._num_reused,
            num_refused=tally.num_refused,
            num_failed=tally.num_failed,
            num_again=tally.num_again,
            num_left=backlog.num_chunks - backlog.num_resolved,
            is_stopped=not self._is_done,
            audio_seconds=audio_seconds,
            rendered_seconds=tally.audio_seconds,
            wall_seconds=time.monotonic() - self._started,
            slots_filled=slots_filled,
            missing=tuple(
                Missing(listed.chunk.key, listed.chunk.chapter, listed.chunk.text, listed.reason)
                for listed in backlog.listed()
            ),
            findings=(*(self._packed.findings if self._packed else ()), *redos),
        )


def _open_backlog(plan: Plan, store: Store, frontend: Frontend) -> Backlog:
    profile = plan.profile
    return Backlog(
        plan.script.chunks,
        store.history(),
        frontend,
        plan.script.language,
        RenderRules(
            profile.render.attempts,
            profile.render.max_splits,
            plan.sampling,
            profile.engine(plan.voice.engine).longest_first_within,
            plan.voice,
            plan.job.trace_eos,
        ),
        profile.master.level_from_chunks,
    )


def _open_master(plan: Plan, store: Store, beside: Beside, sample_rate: int) -> ChapterMaster:
    profile = plan.profile
    return ChapterMaster(
        plan.script,
        store,
        beside,
        profile.master.rules(),
        profile.gaps_ms.after,
        sample_rate,
        plan.voice.name,
        profile.master.level_from_chunks,
        profile.deliver.aac_kbps if "m4b" in plan.formats else None,
    )


def _spec(plan: Plan, staff: Staff, sample_rate: int) -> ReplicaSpec:
    """What renders this book: its voice's model, and what a replica of it may use."""
    engine = plan.profile.engine(plan.voice.engine)
    share = staff.shares[plan.voice.engine]
    hardware = engine.hardware(share.num_threads)
    return ReplicaSpec(
        model=registry.model_of(plan.voice, hardware),
        engine=plan.voice.engine,
        open_engine=partial(registry.open_engine, plan.voice, hardware),
        sample_rate=sample_rate,
        num_replicas=share.replicas,
        num_cpus=share.num_cpus,
        num_gpus=share.num_gpus,
        packages=registry.packages_of(plan.voice.engine),
    )
