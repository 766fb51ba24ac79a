"""Files whose name only ever stands for all of them, whatever is killed when."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from pipeline.errors import OutputError


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a hidden path beside `path` to write to; on leaving, its bytes are on disk under the name `path`.

    On any failure neither name is left behind, and an older file stays. Raises `OutputError` for what the operating
    system refuses: a full disk, a folder that can't be made or written.
    """
    partial = path.absolute().with_name(f".{path.name}.part")  # there is one writer, so one name is enough
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
    with whole_file(path) as partial:
        partial.write_bytes(data)


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
