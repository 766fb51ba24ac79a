"""The line from a manuscript to an audiobook, with a plan at its head and a report at its end."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pipeline.engines import registry
from pipeline.engines.base import Failed, RawTake, num_cores
from pipeline.folder import check_folder, read_job, write_job, write_json
from pipeline.job import Job
from pipeline.master.chapters import ChapterMaster
from pipeline.master.deliver import Packed, Tags, pack_m4b
from pipeline.master.stitcher import join_takes
from pipeline.plan import Plan, find_chunk, make_plan
from pipeline.render.backlog import Backlog, Composite, RenderRules
from pipeline.render.judge import make_take
from pipeline.render.loop import Clock, Tally, render_backlog
from pipeline.render.pools import LocalPool, NoPool, Pools, ReplicaSpec
from pipeline.render.store import Store, hold_folder, open_store
from pipeline.render.takes import Finding, Take
from pipeline.review.report import Missing, Report, write_report


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, after each outcome."""

    num_done: int
    num_chunks: int
    chapter: str
    audio_seconds: float
    """Rendered in this run."""


OnProgress = Callable[[Progress], None]
OnMessage = Callable[[str], None]


def render_book(
    job: Job,
    clock: Clock,
    on_progress: OnProgress,
    on_message: OnMessage,
    redo: Sequence[str] = (),
) -> Report:
    """Render a book into its folder, from wherever an earlier run got to.

    `redo` holds ids (or their beginnings) of chunks whose next attempt is wanted.
    """
    started = time.monotonic()
    plan = make_plan(job)
    asked_again = [find_chunk(plan.script, wanted) for wanted in redo]
    check_folder(plan.folder, plan.stem, plan.book, job.source)
    registry.check_model(plan.voice)  # before anything is written
    if not plan.voice.is_for_sale:
        on_message(f"The voice {plan.voice.name} ({plan.voice.licence}): this audiobook may not be sold.")
    judge = hashlib.sha256(repr(plan.profile.judge_rules()).encode()).hexdigest()[:20]
    with hold_folder(plan.folder), open_store(plan.folder, judge) as store:
        write_job(plan.folder, job, plan.book, plan.formats)
        write_json(plan.folder / "script.json", plan.as_dict())
        damaged = store.forget_damaged()
        if damaged:
            on_message(f"{len(damaged)} takes on disk were damaged or missing: what is needed is rendered again.")
        store.ask_again(asked_again)
        backlog = _open_backlog(plan, store)
        num_reused = len(backlog.accepted())
        master = _open_master(plan, store)
        try:
            with _open_pools(plan, backlog) as pools:
                tally = _render(plan, backlog, pools, store, clock, master, on_progress)
            is_stopped = clock.is_stopping()
            master.collect(wait=not is_stopped)  # after a stop, what waits to be stitched is the next run's
        finally:
            master.close()
        packed = None if is_stopped else _deliver(plan, store, master)
        if not is_stopped and job.chapters is None:
            store.remove_stale_files([*_made_files(plan, master), *(master.m4a(c) for c in plan.kept_chapters)])
        wall_seconds = time.monotonic() - started
        report = _report(plan, backlog, store, master, tally, num_reused, packed, is_stopped, wall_seconds)
        write_report(report, plan.folder / "report.json")
        return report


def redo_chunks(
    folder: Path, ids: Sequence[str], clock: Clock, on_progress: OnProgress, on_message: OnMessage
) -> Report:
    """Render the next attempt of some chunks of a book that was rendered into `folder`, and pack it again."""
    return render_book(read_job(folder), clock, on_progress, on_message, redo=ids)


@contextmanager
def _open_pools(plan: Plan, backlog: Backlog) -> Iterator[Pools]:
    """The replicas. One worker renders in this process; more are Ray actors; none where nothing is left."""
    num_threads = max(1, num_cores() // plan.job.num_workers)
    spec = ReplicaSpec(
        partial(registry.open_engine, plan.voice, plan.profile.engine(plan.voice.engine).hardware(num_threads)),
        plan.frontend.spec.sample_rate,
        plan.profile.judge_rules(),
    )
    pools: Pools
    if not backlog.num_waiting:
        pools = NoPool()
    elif plan.job.num_workers == 1:
        pools = LocalPool(spec)
    else:
        from pipeline.render.cluster import RayPool

        pools = RayPool(spec, plan.job.num_workers)
    try:
        yield pools
    finally:
        pools.close()


def _open_backlog(plan: Plan, store: Store) -> Backlog:
    profile = plan.profile
    return Backlog(
        plan.script.chunks,
        store.history(),
        plan.frontend,
        plan.script.language,
        RenderRules(
            profile.render.attempts,
            profile.render.max_splits,
            plan.sampling,
            profile.engine(plan.voice.engine).longest_first_within,
        ),
        profile.master.level_from_chunks,
    )


def _open_master(plan: Plan, store: Store) -> ChapterMaster:
    profile = plan.profile
    return ChapterMaster(
        plan.script,
        store,
        profile.master.rules(),
        profile.gaps_ms.after,
        plan.frontend.spec.sample_rate,
        plan.voice.name,
        profile.master.level_from_chunks,
        profile.deliver.aac_kbps if "m4b" in plan.formats else None,
    )


def _render(
    plan: Plan,
    backlog: Backlog,
    pools: Pools,
    store: Store,
    clock: Clock,
    master: ChapterMaster,
    on_progress: OnProgress,
) -> Tally:
    chapters = {chunk.key: chunk.chapter for chunk in plan.script.chunks}
    titles = {chapter.index: f"{chapter.index} {chapter.title}" for chapter in plan.script.chapters}
    title = ""
    audio_seconds = 0.0

    def on_outcome(outcome: Take | Failed) -> None:
        nonlocal title, audio_seconds
        title = titles.get(chapters.get(outcome.key, 0), title)
        if isinstance(outcome, Take) and not outcome.is_refused:
            audio_seconds += outcome.num_samples / outcome.sample_rate
        master.collect()
        on_progress(Progress(backlog.num_resolved, backlog.num_chunks, title, audio_seconds))

    return render_backlog(
        backlog,
        pools,
        store,
        clock,
        compose=partial(_compose, plan, store),
        on_chapter=lambda index: master.submit(index, backlog.accepted()),
        on_outcome=on_outcome,
    )


def _compose(plan: Plan, store: Store, composite: Composite) -> Take:
    """The takes of a split chunk's parts as one take, which no judge refuses: its parts were judged."""
    takes = [store.take(key, attempt) for key, attempt in composite.parts]
    gap_ms = plan.profile.gaps_ms.after(composite.inner_ends)
    samples = join_takes(takes, gap_ms, plan.profile.master.rules())
    raw = RawTake(composite.key, composite.attempt, "eos", samples, num_frames=0)
    note = Finding("a-010", f"put together from {len(takes)} parts", "note")
    return make_take(raw, plan.frontend.spec.sample_rate, plan.profile.judge_rules(), (note,))


def _deliver(plan: Plan, store: Store, master: ChapterMaster) -> Packed | None:
    """Pack the chapters as an m4b if one is wanted, unless it is there and made from the same."""
    if "m4b" not in plan.formats:
        return None
    path = plan.folder / f"{plan.stem}.m4b"
    chapters = [(c.title, master.m4a(c)) for c in plan.kept_chapters]
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
    made_of = [store.sha256(file) for _, file in chapters], [title for title, _ in chapters], repr(tags)
    digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
    if store.is_current(path, digest):
        return None
    packed = pack_m4b(chapters, tags, path)
    store.record_file(path, digest, packed.marks[-1].end)
    return packed


def _made_files(plan: Plan, master: ChapterMaster) -> list[Path]:
    """The m4b, if one is wanted, and the chapters' FLACs."""
    m4b = [plan.folder / f"{plan.stem}.m4b"] if "m4b" in plan.formats else []
    return [*m4b, *(master.flac(chapter) for chapter in plan.kept_chapters)]


def _report(
    plan: Plan,
    backlog: Backlog,
    store: Store,
    master: ChapterMaster,
    tally: Tally,
    num_reused: int,
    packed: Packed | None,
    is_stopped: bool,
    wall_seconds: float,
) -> Report:
    num_left = backlog.num_chunks - backlog.num_resolved
    rate = plan.frontend.spec.sample_rate
    if is_stopped:
        seconds = store.seconds_by_key()
        audio_seconds = sum(seconds[key] for key in backlog.accepted())
    else:
        audio_seconds = sum(store.num_samples(master.flac(chapter)) for chapter in plan.kept_chapters) / rate
    wanted = [file for file in _made_files(plan, master) if file.suffix[1:] in plan.formats]
    redos = [
        f"The redo of {listed.chunk.key} failed ({listed.reason}): the take from before stays."
        for listed in backlog.failed_redos()
    ]
    return Report(
        title=plan.script.title,
        folder=str(plan.folder),
        files=() if is_stopped else tuple(str(file) for file in wanted),
        num_chapters=len(plan.kept_chapters),
        num_chunks=backlog.num_chunks,
        num_rendered=tally.num_rendered,
        num_reused=num_reused,
        num_refused=tally.num_refused,
        num_failed=tally.num_failed,
        num_left=num_left,
        is_stopped=is_stopped,
        audio_seconds=audio_seconds,
        rendered_seconds=tally.audio_seconds,
        wall_seconds=wall_seconds,
        missing=tuple(
            Missing(listed.chunk.key, listed.chunk.chapter, listed.chunk.text, listed.reason)
            for listed in backlog.listed()
        ),
        findings=(*(packed.findings if packed else ()), *redos),
    )
