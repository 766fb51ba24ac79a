"""What a Ray of ours leaves behind, and who clears it away: a process that outlives the run by a moment.

It runs beside the run, as a script (`python -I -S janitor.py FOLDER`): no package, nothing but the standard library, so
that it is there in 20 ms and costs 10 MB. Its standard input is a pipe that only the run holds. Once that is closed,
because the run has shut Ray down or because the run is no more, it clears the folder and ends. So there is one way for
all endings, kill -9 of the run among them, after which Ray's agents would stay for a minute, and its files for ever.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

_PROC = Path("/proc")
_PATIENCE_S = 60.0
"""For a killed process that doesn't go, such as one that waits for a GPU's driver."""


def clear(folder: Path, run: int) -> None:
    """End what still writes into `folder`, and remove it. The process `run`, whose Ray it was, keeps its logs open."""
    deadline = time.monotonic() + _PATIENCE_S
    while (writers := _writers(folder) - {run}) and time.monotonic() < deadline:
        for pid in writers:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    shutil.rmtree(folder, ignore_errors=True)


def _writers(folder: Path) -> set[int]:
    """The processes with a file of `folder` open for writing: all of Ray's have their logs there, and nobody else.

    Neither names nor pids in files would do: the first may be anybody's, the second may have passed to somebody else.
    Nor do command lines and environments: Ray's agents overwrite both with a title.
    """
    return _writers_in_proc(folder) if _PROC.is_dir() else _writers_by_lsof(folder)


def _writers_in_proc(folder: Path) -> set[int]:
    found = set()
    for process in _PROC.iterdir():
        with contextlib.suppress(OSError):  # it has just ended, or is somebody else's
            if process.name.isdigit() and any(_is_written(file, folder) for file in (process / "fd").iterdir()):
                found.add(int(process.name))
    return found


def _is_written(file: Path, folder: Path) -> bool:
    return bool(file.lstat().st_mode & stat.S_IWUSR) and folder in file.readlink().parents


def _writers_by_lsof(folder: Path) -> set[int]:
    """As above where there is no /proc: on macOS, which has lsof."""
    found, pid = set(), 0
    with contextlib.suppress(FileNotFoundError):
        listed = subprocess.run(["lsof", "-w", "-F", "pa", "+D", folder], capture_output=True, text=True, check=False)
        for line in listed.stdout.splitlines():
            if line.startswith("p"):
                pid = int(line[1:])
            elif line in ("aw", "au"):
                found.add(pid)
    return found


def _main(folder: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # meant for the run, whose end is waited for
        signal.signal(number, signal.SIG_IGN)
    run = os.getppid()
    while os.read(sys.stdin.fileno(), 1):
        pass
    clear(folder, run)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
