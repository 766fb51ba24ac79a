"""What an output folder says of itself: whose it is, by which job, and how far."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pipeline.errors import OutputError, UsageError
from pipeline.job import BookJob, Job, runs_submitted
from pipeline.manuscript.book import Book
from pipeline.render.store import open_store
from pipeline.review.report import Missing
from pipeline.review.status import ChapterStatus, Status
from pipeline.whole_file import write_whole


def check_folder(folder: Path, stem: str, book: Book, source: Path) -> None:
    """Refuse, before anything is written, a folder that isn't this book's to write in. Raises `OutputError`."""
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{folder} is a file: give --output a folder.")
    if source.resolve() == (folder / f"{stem}.m4b").resolve():
        raise OutputError(f"The audiobook would be written over {source}: choose another --output.")
    if not (folder / "job.json").is_file():
        for name in (f"{stem}.m4b", "chapters"):
            if (folder / name).exists():
                raise OutputError(f"{folder / name} is there and isn't from render-book: choose another --output.")
    else:
        saved = _read_json(folder / "job.json", "source", "title", "authors")
        other = Path(saved["source"])
        is_same_book = (saved["title"], saved["authors"]) == (book.title, list(book.authors))
        # The same book may have been moved, or be a copy, such as `ray job submit` makes each time.
        is_copy = runs_submitted() and other.name == source.name
        may_move = is_same_book and (is_copy or not other.exists())
        if other != source.resolve() and not may_move:
            raise OutputError(f"{folder} holds another book, {saved['title']!r} from {other}: choose another --output.")


def write_job(folder: Path, job: BookJob, book: Book, formats: Sequence[str]) -> None:
    """Keep what `redo` needs to make the same plan from any folder: paths are absolute."""
    saved = asdict(job) | {"title": book.title, "authors": book.authors, "formats": formats}
    for name in ("source", "config"):
        path = getattr(job, name)
        saved[name] = str(path.resolve()) if path else None
    saved["lexicons"] = [str(path.resolve()) for path in job.lexicons]
    if job.voice.endswith((".yaml", ".yml")):
        saved["voice"] = str(Path(job.voice).resolve())
    del saved["output"], saved["priority"], saved["redo"]
    write_json(folder / "job.json", saved)


def read_job(folder: Path) -> BookJob:
    """The job that an output folder was made by. Raises `OutputError` where there is none."""
    keys = ("source", "config", "lexicons", "voice", "chapters", "formats", "seed", "settings")
    saved = _read_json(folder / "job.json", *keys)
    return BookJob(
        source=Path(saved["source"]),
        config=Path(saved["config"]) if saved["config"] else None,
        lexicons=tuple(Path(path) for path in saved["lexicons"]),
        voice=saved["voice"],
        output=folder,
        chapters=tuple(saved["chapters"]) if saved["chapters"] else None,
        formats=tuple(saved["formats"]),
        seed=saved["seed"],
        settings=saved["settings"],
    )


def read_status(folder: Path) -> Status:
    """Read how far a book is; works while another process renders it. Raises `OutputError`."""
    script = _read_json(folder / "script.json", "title", "chapters")
    with open_store(folder) as store:
        seconds = store.seconds_by_key()
        rendered, since = store.rendered_lately()
        num_refused = store.num_refused()
    held = _held(folder)
    chapters = []
    for chapter in script["chapters"]:
        done = [seconds[chunk["id"]] for chunk in chapter["chunks"] if chunk["id"] in seconds]
        if chapter["kept"]:
            chapters.append(
                ChapterStatus(chapter["index"], chapter["title"], len(done), len(chapter["chunks"]), sum(done))
            )
    missing: tuple[Missing, ...] = ()
    is_delivered = False
    if (folder / "report.json").is_file():
        report = _read_json(folder / "report.json", "missing", "is_stopped")
        missing = tuple(Missing(**item) for item in report["missing"] if item["id"] not in seconds)
        is_delivered = not report["is_stopped"] and not held
    seconds_since = time.time() - max(since, held.get("since", 0.0))
    return Status(
        title=script["title"],
        holder=f"process {held['pid']} on {held['host']}" if held else "",
        num_replicas=held.get("num_replicas", 0),
        times_real_time=round(rendered / seconds_since, 2) if held and rendered else 0.0,
        num_refused=num_refused,
        is_delivered=is_delivered,
        chapters=tuple(chapters),
        missing=missing,
    )


def read_job_status(job: Job) -> list[tuple[str, Status | None]]:
    """Each book of a manifest by its source; None for one that hasn't been begun."""
    return [(str(book.source), read_status(_folder_of(book)) if _is_begun(book) else None) for book in job.books]


def find_redos(job: Job | None, folder: Path, ids: Sequence[str]) -> Job:
    """The books of a job, or the one in a folder, of which chunks are wanted again. Raises `UsageError`."""
    if job is None:
        return Job((replace(read_job(folder), redo=tuple(ids)),))
    wanted: dict[int, list[str]] = {}
    for id_ in ids:
        holders = [number for number, book in enumerate(job.books) if id_ and _holds(book, id_)]
        if len(holders) != 1:
            problem = "No begun book of the job has" if not holders else "Several books of the job have"
            raise UsageError(f"{problem} a chunk that begins with {id_!r}: give redo its book's folder.")
        wanted.setdefault(holders[0], []).append(id_)
    chosen = (
        {number: tuple(wanted[number]) for number in sorted(wanted)}
        if ids
        else dict.fromkeys(range(len(job.books)), ())
    )
    return replace(job, books=tuple(replace(job.books[number], redo=redo) for number, redo in chosen.items()))


def _folder_of(book: BookJob) -> Path:
    assert book.output is not None  # a manifest's books have their folders
    return book.output


def _is_begun(book: BookJob) -> bool:
    return (_folder_of(book) / "script.json").is_file()


def _holds(book: BookJob, beginning: str) -> bool:
    if not _is_begun(book):
        return False
    script = _read_json(_folder_of(book) / "script.json", "chapters")
    return any(chunk["id"].startswith(beginning) for chapter in script["chapters"] for chunk in chapter["chunks"])


def write_json(path: Path, value: Any) -> None:
    # In ASCII: a path may hold bytes that are no text, and comes back from its escapes as it was.
    write_whole(path, (json.dumps(value, indent=1) + "\n").encode())


def _read_json(path: Path, *keys: str) -> Any:
    """A JSON object that has these keys."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict) or not set(keys) <= set(value):
            raise ValueError("not what was written there")
        return value
    except (OSError, ValueError):
        raise OutputError(
            f"{path.parent} holds no book of render-book: {path.name} is missing or damaged. Give the folder that one "
            "was rendered into; or remove the file, and render the book again: its takes stay."
        ) from None


def _held(folder: Path) -> dict[str, Any]:
    """Who renders into a folder and with what; empty if nobody. A holder that was killed leaves its name behind."""
    if not (folder / "holder.json").is_file():
        return {}
    held: dict[str, Any] = _read_json(folder / "holder.json", "pid", "host")
    if held["host"] == socket.gethostname():
        try:
            os.kill(held["pid"], 0)
        except ProcessLookupError:
            return {}
        except PermissionError:
            pass  # alive, and another user's
    return held
