"""Files whose name only ever stands for all of them, whatever is killed when."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path

from pipeline.errors import OutputError

_NUM_WRITERS = 8


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a hidden path beside `path` to write to; on leaving, its bytes are on disk under the name `path`.

    On any failure neither name is left behind, and an older file stays. Raises `OutputError` for what the operating
    system refuses: a full disk, a folder that can't be made or written.
    """
    partial = _partial(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error.strerror or error) from error
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file as `whole_file` does. Raises `OutputError`."""
    partial = _partial(path)
    try:
        try:
            file = partial.open("wb")
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = partial.open("wb")
        with file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise cannot_write(path, error.strerror or error) from error


def write_all(files: Mapping[Path, bytes]) -> None:
    """Write files as `write_whole` does, several at once: each waits for the disk, so they wait together.

    None is being written any more when it returns or raises. Raises `OutputError`.
    """
    if len(files) == 1:
        return write_whole(*next(iter(files.items())))
    done = [_writers().submit(write_whole, path, data) for path, data in files.items()]
    wait(done)
    for future in done:
        future.result()


@cache
def _writers() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_NUM_WRITERS, thread_name_prefix="writer")


def _partial(path: Path) -> Path:
    return path.absolute().with_name(f".{path.name}.part")  # a file has one writer, so one name is enough


def cannot_write(path: Path, reason: object) -> OutputError:
    return OutputError(
        f"{path} can't be written ({reason}): see that its folder is yours to write to and has room, and run the same "
        "command again to go on."
    )


def _sync_folder(folder: Path) -> None:
    """Make a rename in a folder outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
