"""Accepted takes on disk, and the ledger that says so. Bytes first, then the row: what has a row is whole.

output/<title>/
  takes/ab/<key>.<attempt>.flac     temp file in the same folder, fsync, rename, then the row
  takes/ab/<key>.<attempt>.eos.json its end-of-speech trace, where the run was asked for it; no row
  chapters/001.flac                 likewise
  ledger.sqlite                     outcomes, takes, files, and what is in flight
  lock, holder.json                 who is rendering into this folder
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
import sqlite3
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from pipeline.engines.base import Failed
from pipeline.errors import OutputError
from pipeline.render.takes import Level, Outcome, Take
from pipeline.whole_file import cannot_write, write_all, write_whole

_SCHEMA = """
CREATE TABLE IF NOT EXISTS outcomes (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL,
    alone INTEGER NOT NULL, message TEXT NOT NULL, findings TEXT NOT NULL, judge TEXT NOT NULL,
    recorded_at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS outcomes_by_key ON outcomes (key, id);
CREATE TABLE IF NOT EXISTS takes (
    key TEXT NOT NULL, attempt INTEGER NOT NULL, sha256 TEXT NOT NULL, num_samples INTEGER NOT NULL,
    sample_rate INTEGER NOT NULL, stop TEXT NOT NULL, num_frames INTEGER NOT NULL, level TEXT NOT NULL,
    PRIMARY KEY (key, attempt));
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, digest TEXT NOT NULL, sha256 TEXT NOT NULL, num_samples INTEGER NOT NULL,
    recorded_at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS in_flight (
    key TEXT NOT NULL, attempt INTEGER NOT NULL, PRIMARY KEY (key, attempt)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class StoredTake:
    """An accepted take as the ledger knows it. `num_samples` at `sample_rate` Hz, untrimmed."""

    key: str
    attempt: int
    path: Path
    sha256: str
    num_samples: int
    sample_rate: int
    level: Level


class Store:
    """The output folder of one book. Only the driver writes in it."""

    def __init__(self, folder: Path, judge: str = "") -> None:
        """`judge` is a digest of the rules that takes are judged by: a refusal by other rules is no refusal."""
        self.folder = folder
        self._judge = judge
        self._in_flight: set[tuple[str, int]] = set()
        self._path = folder / "ledger.sqlite"
        try:
            # Opened by whoever plans the book, then used by the loop alone: one thread at a time.
            self._db = sqlite3.connect(self._path, timeout=10, isolation_level=None, check_same_thread=False)
            # A rollback journal and not WAL: the folder may lie on a network file system.
            # Little is cached: many books may be open, and the system has the file.
            journal = "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = FULL; PRAGMA cache_size = -64;"
            self._db.executescript(f"{journal} {_SCHEMA}")
            [problem] = self._db.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.Error as error:
            problem = str(error)
        if problem != "ok":
            raise OutputError(
                f"The ledger {self._path} can't be used ({problem}): if it is damaged, move it away, and the book is "
                "rendered anew."
            )

    def close(self) -> None:
        self._db.close()

    def record(self, outcomes: Sequence[Take | Failed], in_flight: Iterable[tuple[str, int]] | None = None) -> None:
        """Commit what came back: the files of the accepted takes first, then all rows at once.

        `in_flight` are the keys and attempts that are being rendered now; None to leave what is noted of them.
        """
        accepted = [one for one in outcomes if isinstance(one, Take) and not one.is_refused]
        files = {self._take_path(take.key, take.attempt): take.flac for take in accepted}
        for take in accepted:
            if take.trace is not None:
                path = self._take_path(take.key, take.attempt).with_suffix(".eos.json")
                files[path] = json.dumps(take.trace.as_dict()).encode()
        write_all(files)
        with self._transaction():
            for outcome in outcomes:
                if isinstance(outcome, Take):
                    self._insert_take(outcome)
                else:
                    self._insert(outcome.key, outcome.attempt, outcome.kind, outcome.alone, outcome.message)
            if in_flight is not None:
                self._note_in_flight(set(in_flight))

    def note_lost(self) -> int:
        """How many renderings were in flight when the last run was killed; the ledger says of each that it was lost."""
        lost = self._in_flight = set(self._db.execute("SELECT key, attempt FROM in_flight"))
        if lost:
            self.record([Failed(key, attempt, "lost", "the run was killed") for key, attempt in lost], ())
        return len(lost)

    def ask_again(self, keys: Iterable[str]) -> None:
        """Note a user's wish for the next attempt at some chunks, unless it stands there already."""
        histories = self.history()
        with self._transaction():
            for key in dict.fromkeys(keys):
                if not histories[key] or histories[key][-1].kind != "redo":
                    self._insert(key, -1, "redo", False, "asked for by the user")

    def history(self) -> defaultdict[str, list[Outcome]]:
        """All outcomes by key, oldest first, but for refusals by other rules than today's."""
        histories: defaultdict[str, list[Outcome]] = defaultdict(list)
        rows = self._db.execute(
            "SELECT key, attempt, kind, alone, message FROM outcomes WHERE kind != 'refused' OR judge = ? ORDER BY id",
            (self._judge,),
        )
        for key, attempt, kind, alone, message in rows:
            histories[key].append(Outcome(attempt, kind, bool(alone), message))
        return histories

    def take(self, key: str, attempt: int) -> StoredTake:
        """An accepted take; `KeyError` if there is none."""
        row = self._db.execute(
            "SELECT sha256, num_samples, sample_rate, level FROM takes WHERE key = ? AND attempt = ?",
            (key, attempt),
        ).fetchone()
        if row is None:
            raise KeyError(key)
        level = Level(**json.loads(row[3]))
        return StoredTake(key, attempt, self._take_path(key, attempt), row[0], row[1], row[2], level)

    def forget_damaged(self) -> list[str]:
        """Drop the rows of takes whose file is missing or fails its checksum; returns their keys."""
        damaged = [
            (key, attempt)
            for key, attempt, sha256 in self._db.execute("SELECT key, attempt, sha256 FROM takes")
            if _sha256_of(self._take_path(key, attempt)) != sha256
        ]
        with self._transaction():
            for key, attempt in damaged:
                self._db.execute("DELETE FROM takes WHERE key = ? AND attempt = ?", (key, attempt))
                self._db.execute(
                    "DELETE FROM outcomes WHERE key = ? AND attempt = ? AND kind = 'accepted'", (key, attempt)
                )
        return [key for key, _ in damaged]

    def is_current(self, path: Path, digest: str) -> bool:
        """Whether a file was made from what `digest` hashes, and is still what was written."""
        row = self._db.execute("SELECT digest, sha256 FROM files WHERE path = ?", (self._name(path),)).fetchone()
        return row is not None and row[0] == digest and _sha256_of(path) == row[1]

    def record_file(self, path: Path, digest: str, num_samples: int) -> None:
        """Note that a file, already whole on disk, was made from what `digest` hashes."""
        with self._transaction():
            self._db.execute(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?)",
                (self._name(path), digest, _sha256_of(path), num_samples, time.time()),
            )

    def num_samples(self, path: Path) -> int:
        row = self._db.execute("SELECT num_samples FROM files WHERE path = ?", (self._name(path),)).fetchone()
        return int(row[0]) if row else 0

    def sha256(self, path: Path) -> str:
        """What a recorded file's bytes hash to; empty if it wasn't recorded."""
        row = self._db.execute("SELECT sha256 FROM files WHERE path = ?", (self._name(path),)).fetchone()
        return str(row[0]) if row else ""

    def remove_stale_files(self, keep: Iterable[Path]) -> None:
        """Remove the files made here before that are none of `keep`: chapters of an earlier, longer book, say."""
        kept = {self._name(path) for path in keep}
        stale = [name for (name,) in self._db.execute("SELECT path FROM files") if name not in kept]
        for name in stale:
            (self.folder / name).unlink(missing_ok=True)
        with self._transaction():
            self._db.executemany("DELETE FROM files WHERE path = ?", [(name,) for name in stale])

    def seconds_by_key(self) -> dict[str, float]:
        """The length of each accepted take, in seconds."""
        return {
            key: num_samples / rate
            for key, num_samples, rate in self._db.execute(
                "SELECT key, num_samples, sample_rate FROM takes ORDER BY attempt"
            )
        }

    def rendered_lately(self, since: float) -> tuple[float, float]:
        """Seconds of audio accepted since then, or in the last ten minutes, and when first: a speed is made of it."""
        [[rendered, first]] = self._db.execute(
            "SELECT SUM(num_samples * 1.0 / sample_rate), MIN(recorded_at)"
            " FROM outcomes JOIN takes USING (key, attempt)"
            " WHERE kind = 'accepted' AND num_frames > 0 AND recorded_at > ?",  # what was put together has no frames
            (max(since, time.time() - 600),),
        )
        return rendered or 0.0, first or 0.0

    def asked_again(self) -> set[str]:
        """The keys of which a user wants another attempt, and nothing has come of that yet."""
        last = "SELECT key, kind, MAX(id) FROM outcomes WHERE kind != 'lost' GROUP BY key"
        return {key for (key,) in self._db.execute(f"SELECT key FROM ({last}) WHERE kind = 'redo'")}

    def num_refused(self) -> int:
        [[number]] = self._db.execute("SELECT COUNT(*) FROM outcomes WHERE kind = 'refused'")
        return int(number)

    def _take_path(self, key: str, attempt: int) -> Path:
        return self.folder / "takes" / key[:2] / f"{key}.{attempt}.flac"

    def _name(self, path: Path) -> str:
        return path.relative_to(self.folder).as_posix()

    def _insert_take(self, take: Take) -> None:
        findings = json.dumps([asdict(finding) for finding in take.findings])
        kind = "refused" if take.is_refused else "accepted"
        if not take.is_refused:
            self._db.execute(
                "INSERT OR REPLACE INTO takes VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    take.key,
                    take.attempt,
                    hashlib.sha256(take.flac).hexdigest(),
                    take.num_samples,
                    take.sample_rate,
                    take.stop,
                    take.num_frames,
                    json.dumps(asdict(take.level)),
                ),
            )
        self._insert(take.key, take.attempt, kind, False, take.refusal, findings)

    def _insert(self, key: str, attempt: int, kind: str, alone: bool, message: str, findings: str = "[]") -> None:
        self._db.execute(
            "INSERT INTO outcomes (key, attempt, kind, alone, message, findings, judge, recorded_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (key, attempt, kind, alone, message, findings, self._judge, time.time()),
        )

    def _note_in_flight(self, now: set[tuple[str, int]]) -> None:
        """Write down what has changed since the last time: with many replicas, most of it hasn't."""
        self._db.executemany("DELETE FROM in_flight WHERE key = ? AND attempt = ?", self._in_flight - now)
        self._db.executemany("INSERT INTO in_flight VALUES (?, ?)", now - self._in_flight)
        self._in_flight = now

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            raise cannot_write(self._path, error) from error
        finally:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")


@contextlib.contextmanager
def open_store(folder: Path, judge: str = "") -> Iterator[Store]:
    store = Store(folder, judge)
    try:
        yield store
    finally:
        store.close()


@contextlib.contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Hold an output folder against other runs. Raises `OutputError` if another run has it.

    The operating system frees the lock when its holder dies, so none is ever left over.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "lock", thread_local=False)  # opened by one thread, closed by another
        lock.acquire(timeout=0)
    except Timeout:
        raise OutputError(
            f"{folder} is being rendered into by {_holder(folder)}: wait for it, stop it, or choose another --output."
        ) from None
    except OSError as error:
        raise OutputError(f"{folder} can't be written to ({error.strerror}): choose another --output.") from None
    try:
        _remove_leftovers(folder)
        note_holder(folder, time.time(), 0)
        yield
    finally:
        (folder / "holder.json").unlink(missing_ok=True)
        lock.release()


def note_holder(folder: Path, since: float, num_replicas: int) -> None:
    """Say, for `status`, who renders into a folder and with how many replicas. Only its holder may."""
    holder = {"pid": os.getpid(), "host": socket.gethostname(), "since": since, "num_replicas": num_replicas}
    write_whole(folder / "holder.json", json.dumps(holder).encode())


def _holder(folder: Path) -> str:
    try:
        holder = json.loads((folder / "holder.json").read_text())
        return f"process {holder['pid']} on {holder['host']}"
    except (OSError, ValueError, KeyError):
        return "another run"


def _remove_leftovers(folder: Path) -> None:
    """Half-written files of a run that was killed: only where this program writes, the folder may hold more."""
    for pattern in (".*.part", "takes/??/.*.part", "chapters/.*.part"):
        for part in folder.glob(pattern):
            part.unlink(missing_ok=True)


def _sha256_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
