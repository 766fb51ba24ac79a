"""A Ray for a run: one of its own that leaves nothing behind, or one that somebody else runs and that we join."""

from __future__ import annotations

import fcntl
import logging
import math
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pipeline.errors import UsageError
from pipeline.render import janitor

_PREFIX = "render-book-"
_LOCK = "ray-of-render-book.lock"
_LONGEST_ROOT = 103 - len("/render-book-abcdefgh/r/session_2026-11-30_12-00-00_123456_1234567/sockets/plasma_store")
"""A socket's path has room for 103 bytes on macOS, 107 on Linux."""

_MOST_INLINE = 4 << 20
"""Bytes of an answer that come with its call: 6 s of speech are 170 KB; above 100 they go through Ray's store."""

_CONNECT_S = 5.0
_KNOCK_S = 30.0
_CLOSE_S = 10.0

_KNOCK = """
import sys, ray
print(ray.init(sys.argv[1], log_to_driver=False, configure_logging=False).address_info["session_dir"])
"""


@contextmanager
def open_session(address: str, num_cpus: float, num_gpus: float, on_message: Callable[[str], None]) -> Iterator[None]:
    """Within, `ray` is connected; after, it isn't. From the main thread, one at a time.

    Without an `address` it is a Ray for this run alone, with `num_cpus` and `num_gpus`, of which no process and no file
    is left, however the run ends. With one (`auto`, `HOST:PORT`) it is the cluster there, joined as one more driver.
    Raises `UsageError` where there is none to be had.
    """
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # else a warning of what it will do one day
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")  # else stdout is told of deaths, with the logs of raylets
    os.environ.setdefault("RAY_max_direct_call_object_size", str(_MOST_INLINE))
    import ray  # noqa: F401 - it reads these, and sets its logger's level

    logging.getLogger("ray").setLevel(logging.ERROR)  # its warnings (tokens, /dev/shm) are for those who run clusters
    with _joined(address) if address else _own(num_cpus, num_gpus, on_message):
        yield


@contextmanager
def _own(num_cpus: float, num_gpus: float, on_message: Callable[[str], None]) -> Iterator[None]:
    import ray

    root = _root()
    _clear_leftovers(root, on_message)
    with _folder(root) as folder:
        try:
            _start(folder, num_cpus, num_gpus)
            yield
        finally:
            ray.shutdown()


def _start(folder: Path, num_cpus: float, num_gpus: float) -> None:
    import ray

    try:
        with _signals_kept(), _apart():
            ray.init(
                address="local",
                num_cpus=math.ceil(num_cpus),  # Ray has whole ones only
                num_gpus=math.ceil(num_gpus),
                include_dashboard=False,
                log_to_driver=False,
                configure_logging=False,
                _temp_dir=str(folder / "r"),  # one below: Ray lets everybody write into what it is given
            )
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UsageError(f"Ray doesn't start on this machine ({reason}): one worker needs none.") from error


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Ray puts its own handler of SIGTERM in place of ours, and drops what is in flight."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in kept.items():
            signal.signal(number, handler)


_is_starting = threading.Event()


def _leave_group() -> None:
    """In a child that has just been forked: out of our process group, if it is Ray's."""
    if _is_starting.is_set():
        os.setpgid(0, 0)


os.register_at_fork(after_in_child=_leave_group)  # Ray gives no say in how its processes start


@contextmanager
def _apart() -> Iterator[None]:
    """Ray's processes start in groups of their own.

    A signal to our group (`timeout`, a shell's `kill %1`) is ours to answer. A Ray whose head it ended too made the
    driver wait for it a minute long, and lose what was in flight.
    """
    _is_starting.set()
    try:
        yield
    finally:
        _is_starting.clear()


@contextmanager
def _folder(root: Path) -> Iterator[Path]:
    """A folder for Ray, and a janitor beside us that clears it once we are through, or gone.

    Both hold its lock: what another run finds unlocked, it clears away.
    """
    folder, lock = _new_folder(root)
    try:
        watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", janitor.__file__, folder],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd="/", start_new_session=True, pass_fds=[lock],
        )  # fmt: skip
        assert watcher.stdin is not None
        try:
            yield folder
        finally:
            watcher.stdin.close()
            with suppress(subprocess.TimeoutExpired):  # it goes on by itself, and holds the lock
                if watcher.wait(_CLOSE_S) != 0:  # it was killed
                    janitor.clear(folder, os.getpid())
    finally:
        os.close(lock)


def _root() -> Path:
    root = Path(tempfile.gettempdir()).resolve()
    return root if len(os.fsencode(root)) <= _LONGEST_ROOT else Path("/tmp").resolve()


def _new_folder(root: Path) -> tuple[Path, int]:
    """A folder that nobody else enters, and its lock, which we hold."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        lock = os.open(folder / _LOCK, os.O_RDONLY | os.O_CREAT, 0o600)
        if _take(lock) and os.fstat(lock).st_nlink:
            return folder, lock
        os.close(lock)  # another run that starts now was faster, and took it for a leftover


def _take(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _clear_leftovers(root: Path, on_message: Callable[[str], None]) -> None:
    """Clear the folders whose run and janitor are both gone, as after a power cut."""
    for folder in root.glob(f"{_PREFIX}????????"):
        try:
            if folder.lstat().st_uid != os.getuid() or not stat.S_ISDIR(folder.lstat().st_mode):
                continue
            lock = os.open(folder / _LOCK, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError:  # of another kind, or gone in this moment
            continue
        try:
            if _take(lock):
                janitor.clear(folder, os.getpid())
                on_message(f"Cleared {folder}, which a run that was killed had left.")
        finally:
            os.close(lock)


@contextmanager
def _joined(address: str) -> Iterator[None]:
    import ray

    address = (os.environ.get("RAY_ADDRESS") if address == "auto" else None) or address
    if "://" in address:
        raise UsageError(
            f"A run can't join Ray by {address}: give HOST:PORT of its head, on one of the cluster's own machines, or "
            "submit the run with `ray job submit`."
        )
    if address != "auto":
        _check_somebody_listens(address)
    _knock(address)
    try:
        with _signals_kept():
            ray.init(address=address, log_to_driver=False, configure_logging=False)
        yield
    finally:
        ray.shutdown()


def _check_somebody_listens(address: str) -> None:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise UsageError(f"{address} is no address of a Ray: give HOST:PORT, or auto.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(
            f"No Ray answers at {address} ({reason}): start one there (`ray start --head`), or give HOST:PORT of one."
        ) from error


def _knock(address: str) -> None:
    """Join in a process that can be ended, and may die of it: Ray aborts one that is on no machine of the cluster."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", _KNOCK, address],
            env={**os.environ, "RAY_gcs_server_port_wait_time_s": "1"},  # one try, not 20
            capture_output=True, text=True, timeout=_KNOCK_S, check=False, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise UsageError(f"The Ray at {address} doesn't answer: see `ray status` on its head.") from None
    if done.returncode != 0:
        raise UsageError(_why_not(address, done.stderr))
    if f"/{_PREFIX}" in done.stdout:
        raise UsageError("The Ray found here is another run's own: start one for both with `ray start --head`.")


def _why_not(address: str, said: str) -> str:
    if versions := re.findall(r"^ +(?:Ray|Python): (\S+)$", said, re.MULTILINE):
        theirs, ours = (f"Ray {ray} with Python {python}" for ray, python in (versions[:2], versions[2:4]))
        return f"The cluster at {address} runs {theirs}, and this is {ours}: install the same here."
    if "AuthenticationError" in said:
        names = "RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH"
        return f"The cluster at {address} asks for a token: set {names} as on its head."
    if "to connect to socket" in said:
        return f"This machine is none of the cluster at {address}: run there, or submit the run with `ray job submit`."
    if address == "auto":
        return "No Ray runs on this machine: start one (`ray start --head`), or give HOST:PORT of one."
    return f"What listens at {address} is no Ray head: give the address that `ray start --head` printed."
