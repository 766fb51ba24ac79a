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

_RAY_COPIES = "working_dir_files"
"""The folder in which Ray keeps the copies that submitted jobs run in."""


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
        # The same book may have been moved; or this is a copy, or that was one, as `ray job submit` makes each time.
        is_copy = other.name == source.name and (runs_submitted() or _RAY_COPIES in other.parts)
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
        notes=saved.get("notes", "skip"),  # a folder may be older than this key and the next
        keep=tuple(saved.get("keep", ())),
        drop=tuple(saved.get("drop", ())),
        as_book=saved.get("as_book", False),
        trace_eos=saved.get("trace_eos", False),
    )


def read_status(folder: Path) -> Status:
    """Read how far a book is; works while another process renders it. Raises `OutputError`."""
    script = _read_json(folder / "script.json", "title", "chapters")
    held = _held(folder)
    with open_store(folder) as store:
        seconds = store.seconds_by_key()
        rendered, since = store.rendered_lately(held.get("since", 0.0))
        num_refused = store.num_refused()
        asked_again = store.asked_again()
    kept = [chapter for chapter in script["chapters"] if chapter["kept"]]
    chapters = []
    for chapter in kept:
        done = [seconds[chunk["id"]] for chunk in chapter["chunks"] if chunk["id"] in seconds]
        chapters.append(ChapterStatus(chapter["index"], chapter["title"], len(done), len(chapter["chunks"]), sum(done)))
    ids = {chunk["id"] for chapter in kept for chunk in chapter["chunks"]}
    left = ids - seconds.keys()
    missing: tuple[Missing, ...] = ()
    is_delivered = False
    if (folder / "report.json").is_file():
        report = _read_json(folder / "report.json", "missing", "is_stopped")
        missing = tuple(Missing(**item) for item in report["missing"] if item["id"] in left)
        is_delivered = not (report["is_stopped"] or held or ids & asked_again or len(left) > len(missing))
    seconds_since = max(time.time() - since, 0.1)
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


def read_job_status(job: Job) -> list[tuple[str, Status | str]]:
    """Each book of a manifest by its source; a sentence for one that has no status, and why."""
    failures: dict[str, str] = {}
    if job.folder is not None and (path := job.folder / f"{job.name}.report.json").is_file():
        failures = {failed["source"]: failed["error"] for failed in _read_json(path, "failures")["failures"]}
    found: list[tuple[str, Status | str]] = []
    for book in job.books:
        source = str(book.source)
        try:
            is_begun = _is_begun(book)
            found.append((source, read_status(_folder_of(book)) if is_begun else failures.get(source, "not begun")))
        except OutputError as error:  # one book's, which must not hide the others
            found.append((source, str(error)))
    return found


def find_redos(job: Job | None, folder: Path, ids: Sequence[str]) -> Job:
    """The books of a job, or the one in a folder, of which chunks are wanted again. Raises `UsageError`."""
    if job is None:
        return Job((replace(read_job(folder), redo=tuple(ids)),))
    begun = [book for book in job.books if _is_begun(book)]
    wanted: dict[int, list[str]] = {} if ids else {number: [] for number in range(len(begun))}
    for id_ in ids:
        holders = [number for number, book in enumerate(begun) for _ in range(_count(book, id_))]
        if len(holders) != 1:
            problem = "Several chunks" if holders else "No chunk"
            raise UsageError(
                f"{problem} of the job's books begin with {id_!r}: give redo the folder of the book that is meant, and "
                "an id that its script.json lists."
            )
        wanted.setdefault(holders[0], []).append(id_)
    if not wanted:
        raise UsageError(f"No book of {folder} has been begun: render it first.")
    books = tuple(replace(begun[number], redo=tuple(redo)) for number, redo in sorted(wanted.items()))
    return replace(job, books=books, folder=None)  # the report of the whole job stays


def _folder_of(book: BookJob) -> Path:
    assert book.output is not None  # a manifest's books have their folders
    return book.output


def _is_begun(book: BookJob) -> bool:
    return (_folder_of(book) / "script.json").is_file()


def _count(book: BookJob, beginning: str) -> int:
    """How many chunks of a begun book have an id that begins like this."""
    script = _read_json(_folder_of(book) / "script.json", "chapters")
    ids = (chunk["id"] for chapter in script["chapters"] for chunk in chapter["chunks"])
    return sum(bool(beginning) and id_.startswith(beginning) for id_ in ids)


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
    try:
        held: dict[str, Any] = _read_json(folder / "holder.json", "pid", "host")
    except OutputError:
        return {}
    if held["host"] == socket.gethostname():
        try:
            os.kill(held["pid"], 0)
        except ProcessLookupError:
            return {}
        except PermissionError:
            pass  # alive, and another user's
    return held
