"""What an output folder says of itself: whose it is, by which job, and how far."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pipeline.errors import OutputError
from pipeline.job import Job
from pipeline.manuscript.book import Book
from pipeline.render.store import open_store
from pipeline.review.report import ChapterStatus, Missing, Status
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
        same_book = (saved["title"], saved["authors"]) == (book.title, list(book.authors)) and not other.exists()
        if other != source.resolve() and not same_book:  # the same book may have been moved
            raise OutputError(f"{folder} holds another book, {saved['title']!r} from {other}: choose another --output.")


def write_job(folder: Path, job: Job, book: Book, formats: Sequence[str]) -> None:
    """Keep what `redo` needs to make the same plan from any folder: paths are absolute."""
    saved = asdict(job) | {"title": book.title, "authors": book.authors, "formats": formats}
    for name in ("source", "config", "lexicon"):
        path = getattr(job, name)
        saved[name] = str(path.resolve()) if path else None
    if job.voice.endswith((".yaml", ".yml")):
        saved["voice"] = str(Path(job.voice).resolve())
    del saved["output"], saved["num_workers"]
    write_json(folder / "job.json", saved)


def read_job(folder: Path) -> Job:
    """The job that an output folder was made by. Raises `OutputError` where there is none."""
    keys = ("source", "config", "lexicon", "voice", "chapters", "formats", "seed", "settings")
    saved = _read_json(folder / "job.json", *keys)
    return Job(
        source=Path(saved["source"]),
        config=Path(saved["config"]) if saved["config"] else None,
        lexicon=Path(saved["lexicon"]) if saved["lexicon"] else None,
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
    chapters = []
    for chapter in script["chapters"]:
        done = [seconds[chunk["id"]] for chunk in chapter["chunks"] if chunk["id"] in seconds]
        if chapter["kept"]:
            chapters.append(
                ChapterStatus(chapter["index"], chapter["title"], len(done), len(chapter["chunks"]), sum(done))
            )
    missing: tuple[Missing, ...] = ()
    if (folder / "report.json").is_file():
        report = _read_json(folder / "report.json", "missing")
        missing = tuple(Missing(**item) for item in report["missing"] if item["id"] not in seconds)
    return Status(script["title"], _holder(folder), tuple(chapters), missing)


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


def _holder(folder: Path) -> str:
    """Who renders into a folder, or an empty string. A holder that was killed leaves its name behind."""
    if not (folder / "holder.json").is_file():
        return ""
    held = _read_json(folder / "holder.json", "pid", "host")
    if held["host"] == socket.gethostname():
        try:
            os.kill(held["pid"], 0)
        except ProcessLookupError:
            return ""
        except PermissionError:
            pass  # alive, and another user's
    return f"process {held['pid']} on {held['host']}"
