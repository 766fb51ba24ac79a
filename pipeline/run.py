"""The line from a manuscript to an audiobook: every command of the program is one function here."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.engines import registry
from pipeline.engines.base import Failed, Frontend, RawTake
from pipeline.errors import OutputError, UsageError
from pipeline.job import Job, Profile, parse_formats, read_profile
from pipeline.manuscript import read_manuscript
from pipeline.manuscript.book import Book
from pipeline.master.chapters import ChapterMaster
from pipeline.master.deliver import Packed, Tags, pack_m4b
from pipeline.master.stitcher import join_takes
from pipeline.render.judge import make_take
from pipeline.render.loop import Backlog, Clock, Composite, RenderRules, Tally, render_backlog
from pipeline.render.pools import LocalPool, NoPool, Pools, ReplicaSpec
from pipeline.render.store import Store, hold_folder, write_whole
from pipeline.render.takes import Finding, Take
from pipeline.review.report import ChapterStatus, Missing, Report, Status, write_report
from pipeline.script.lexicon import read_lexicon
from pipeline.script.plan import plan_as_dict
from pipeline.script.script import Script
from pipeline.script.write import ScriptRules, write_script
from pipeline.voices import Voice, read_voice


@dataclass(frozen=True, slots=True)
class Plan:
    """A job with everything that can be known of it before a model is loaded."""

    job: Job
    profile: Profile
    voice: Voice
    book: Book
    script: Script
    frontend: Frontend
    sampling: dict[str, float]
    formats: tuple[str, ...]
    folder: Path

    def as_dict(self) -> dict[str, Any]:
        return plan_as_dict(self.book, self.script, self.profile.gaps_ms.after)

    @property
    def stem(self) -> str:
        return safe_name(self.book.title)


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


def make_plan(job: Job) -> Plan:
    """Read, speak and split a manuscript; nothing is written. Raises every error a job can have."""
    profile = read_profile(job.config)
    formats = parse_formats(job.formats or profile.deliver.formats)
    voice = read_voice(job.voice)
    frontend = registry.open_frontend(voice)
    sampling = registry.sampling(voice, profile.engines.get(voice.engine, {}))
    lexicon = read_lexicon(job.lexicon) if job.lexicon else None
    book = read_manuscript(job.source)
    # What the manuscript doesn't say: its file's name is its title, and the voice reads its own language.
    book = replace(book, title=book.title or job.source.stem, language=book.language or voice.language)
    book = _choose_chapters(book, job.chapters)
    rules = ScriptRules(
        max_tokens=profile.script.max_tokens,
        min_words=profile.script.min_words,
        voice_digest=voice.digest,
        seed=job.seed,
        sampling=sampling,
        lexicon=lexicon,
    )
    script = write_script(book, rules, frontend)
    if not script.chunks:
        raise UsageError(f"{job.source} has nothing to say in the chapters chosen: see `render-book plan`.")
    folder = job.output or Path("output") / safe_name(book.title)
    return Plan(job, profile, voice, book, script, frontend, sampling, formats, folder)


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
    asked_again = [_find_chunk(plan.script, wanted) for wanted in redo]
    _check_folder(plan)
    registry.check_model(plan.voice)  # before anything is written
    with hold_folder(plan.folder), _open_store(plan.folder) as store:
        _write_json(plan.folder / "job.json", _job_as_dict(plan))
        _write_json(plan.folder / "script.json", plan.as_dict())
        damaged = store.forget_damaged()
        if damaged:
            on_message(f"{len(damaged)} takes on disk were damaged or missing: they are rendered again.")
        for key in asked_again:
            store.ask_again(key)
        backlog = _open_backlog(plan, store)
        num_reused = len(backlog.accepted())
        master = _open_master(plan, store)
        try:
            with _open_pools(plan, backlog) as pools:
                tally = _render(plan, backlog, pools, store, clock, master, on_progress)
            master.collect(wait=True)
        finally:
            master.close()
        num_left = backlog.num_chunks - backlog.num_resolved
        packed = None if num_left else _deliver(plan, store, master)
        wall_seconds = time.monotonic() - started
        report = _report(plan, backlog, store, master, tally, num_reused, packed, wall_seconds)
        write_report(report, plan.folder / "report.json")
        return report


def redo_chunks(
    folder: Path, ids: Sequence[str], clock: Clock, on_progress: OnProgress, on_message: OnMessage
) -> Report:
    """Render the next attempt of some chunks of a book that was rendered into `folder`, and pack it again."""
    return render_book(read_job(folder), clock, on_progress, on_message, redo=ids)


def read_job(folder: Path) -> Job:
    """The job that an output folder was made by. Raises `OutputError` where there is none."""
    try:
        saved = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise OutputError(f"{folder} holds no book of render-book: give the folder it was rendered into.") from None
    return Job(
        source=Path(saved["source"]),
        config=Path(saved["config"]) if saved["config"] else None,
        lexicon=Path(saved["lexicon"]) if saved["lexicon"] else None,
        voice=saved["voice"],
        output=folder,
        chapters=tuple(saved["chapters"]) if saved["chapters"] else None,
        formats=tuple(saved["formats"]),
        seed=saved["seed"],
    )


def read_status(folder: Path) -> Status:
    """Read how far a book is; works while another process renders it. Raises `OutputError`."""
    read_job(folder)
    script = json.loads((folder / "script.json").read_text(encoding="utf-8"))
    with _open_store(folder) as store:
        seconds = store.seconds_by_key()
    chapters = []
    for chapter in script["chapters"]:
        done = [seconds[chunk["id"]] for chunk in chapter["chunks"] if chunk["id"] in seconds]
        if chapter["kept"]:
            chapters.append(
                ChapterStatus(chapter["index"], chapter["title"], len(done), len(chapter["chunks"]), sum(done))
            )
    missing: tuple[Missing, ...] = ()
    if (folder / "report.json").is_file():
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        missing = tuple(Missing(**item) for item in report["missing"] if item["id"] not in seconds)
    holder = ""
    if (folder / "holder.json").is_file():
        held = json.loads((folder / "holder.json").read_text(encoding="utf-8"))
        holder = f"process {held['pid']} on {held['host']}"
    return Status(script["title"], holder, tuple(chapters), missing)


def safe_name(title: str) -> str:
    """A title as a file name on any system: at most 80 characters, and never empty."""
    name = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|]+', " ", title)
    name = " ".join(name.split())[:80].strip(" .")
    while len(name.encode()) > 200:  # a file name may have 255 bytes
        name = name[:-1]
    return name or "book"


def _choose_chapters(book: Book, chosen: tuple[int, ...] | None) -> Book:
    """Keep the chosen chapters and no other; a chapter that is dropped by default is read if it is chosen."""
    if chosen is None:
        return book
    by_index = {chapter.index: chapter for chapter in book.chapters}
    unknown = [index for index in chosen if index not in by_index]
    if unknown:
        raise UsageError(
            f"There is no chapter {unknown[0]}: the book has chapters 1 to {len(book.chapters)}, "
            "as `render-book plan` lists them."
        )
    chapters = tuple(
        replace(chapter, kept=chapter.index in chosen, reason="" if chapter.index in chosen else "not chosen")
        for chapter in book.chapters
    )
    return replace(book, chapters=chapters)


def _find_chunk(script: Script, wanted: str) -> str:
    """The key of the one chunk whose id begins like this."""
    matches = [chunk.key for chunk in script.chunks if wanted and chunk.key.startswith(wanted)]
    if len(matches) == 1:
        return matches[0]
    problem = "several chunks" if matches else "no chunk"
    raise UsageError(
        f"{problem} of the book begin with {wanted!r}: `render-book plan --json` lists the ids.".capitalize()
    )


def _check_folder(plan: Plan) -> None:
    """Refuse, before anything is written, a folder that isn't this book's to write in."""
    folder, source = plan.folder, plan.job.source
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file: give --output a folder.")
    if source.resolve() == (folder / f"{plan.stem}.m4b").resolve():
        raise OutputError(f"The audiobook would be written over {source}: choose another --output.")
    if (folder / "job.json").is_file():
        saved = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        same = (saved["title"], saved["authors"]) == (plan.book.title, list(plan.book.authors))
        if not same and Path(saved["source"]) != source.resolve():
            raise OutputError(f"{folder} holds another book, {saved['title']!r}: choose another --output.")


@contextmanager
def _open_store(folder: Path) -> Iterator[Store]:
    store = Store(folder)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def _open_pools(plan: Plan, backlog: Backlog) -> Iterator[Pools]:
    """The replicas. One worker renders in this process; more are Ray actors; none where nothing is left."""
    spec = ReplicaSpec(
        partial(registry.open_engine, plan.voice), plan.frontend.spec.sample_rate, plan.profile.judge.rules()
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
        RenderRules(profile.render.attempts, profile.render.max_splits, plan.sampling),
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
    return make_take(raw, plan.frontend.spec.sample_rate, plan.profile.judge.rules(), (note,))


def _deliver(plan: Plan, store: Store, master: ChapterMaster) -> Packed | None:
    """Pack the chapters as an m4b if one is wanted, unless it is there and made from the same."""
    if "m4b" not in plan.formats:
        return None
    path = plan.folder / f"{plan.stem}.m4b"
    chapters = [(c.title, master.m4a(c)) for c in plan.script.chapters if c.kept]
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


def _report(
    plan: Plan,
    backlog: Backlog,
    store: Store,
    master: ChapterMaster,
    tally: Tally,
    num_reused: int,
    packed: Packed | None,
    wall_seconds: float,
) -> Report:
    chapters = [chapter for chapter in plan.script.chapters if chapter.kept]
    num_left = backlog.num_chunks - backlog.num_resolved
    files: list[Path] = []
    if not num_left:
        files += [plan.folder / f"{plan.stem}.m4b"] if "m4b" in plan.formats else []
        files += [master.flac(chapter) for chapter in chapters] if "flac" in plan.formats else []
    rate = plan.frontend.spec.sample_rate
    return Report(
        title=plan.script.title,
        folder=str(plan.folder),
        files=tuple(str(file) for file in files),
        num_chapters=len(chapters),
        num_chunks=backlog.num_chunks,
        num_rendered=tally.num_rendered,
        num_reused=num_reused,
        num_refused=tally.num_refused,
        num_failed=tally.num_failed,
        num_left=num_left,
        audio_seconds=sum(store.num_samples(master.flac(chapter)) for chapter in chapters) / rate
        if not num_left
        else sum(store.seconds_by_key().values()),
        rendered_seconds=tally.audio_seconds,
        wall_seconds=wall_seconds,
        missing=tuple(
            Missing(listed.chunk.key, listed.chunk.chapter, listed.chunk.text, listed.reason)
            for listed in backlog.listed()
        ),
        findings=packed.findings if packed else (),
    )


def _job_as_dict(plan: Plan) -> dict[str, Any]:
    job = plan.job
    saved = asdict(job) | {"title": plan.book.title, "authors": plan.book.authors, "formats": plan.formats}
    for name in ("source", "config", "lexicon"):
        path = getattr(job, name)
        saved[name] = str(path.resolve()) if path else None
    saved.pop("output")
    return saved


def _write_json(path: Path, value: Any) -> None:
    write_whole(path, (json.dumps(value, ensure_ascii=False, indent=1) + "\n").encode())
