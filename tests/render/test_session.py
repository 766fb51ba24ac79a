"""A Ray of our own leaves nothing behind, however its run ends; where there is none to join, that is a sentence."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pipeline.errors import UsageError
from pipeline.render import janitor, session
from pipeline.render.session import open_session

pytestmark = [pytest.mark.ray, pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks into /proc")]

RUN = """
import itertools, os, signal, sys, time
from pipeline.render.session import open_session

class Worker:
    async def answer(self):
        return "answers"
    def work(self):
        time.sleep(1000)
    def die(self):
        os._exit(1)

def on_term(number, frame):
    pass

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, on_term)
with open_session(sys.argv[1], 1.5, 0, lambda message: print(message, flush=True)):
    import ray
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is on_term
    worker, busy = (ray.remote(num_cpus=0.5)(Worker).remote() for _ in range(2))
    busy.work.remote()
    for line in itertools.chain(["begin"], sys.stdin):
        print(ray.get(worker.answer.remote()), ray.get_runtime_context().gcs_address, flush=True)
        if line == "die\\n":
            ray.wait([worker.die.remote()])
        if line == "raise\\n":
            raise ArithmeticError
assert not ray.is_initialized()
"""


HEAD = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"temp_dir": sys.argv[1], "include_dashboard": False})
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


class Run:
    """A process with a session of its own, whose files are below `root`."""

    def __init__(self, root: Path, address: str = "", **env: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN, address],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1,
            start_new_session=True, env={**os.environ, "TMPDIR": str(root), **env},
        )  # fmt: skip

    def hears(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def is_told(self, line: str) -> str:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        return self.hears()

    def ends(self) -> tuple[int, str]:
        out, err = self.process.communicate(timeout=60)
        assert out == ""
        return self.process.returncode, err


@pytest.fixture
def root() -> Iterator[Path]:
    """Not `tmp_path`, which is too long for Ray's sockets."""
    folder = Path(tempfile.mkdtemp(prefix="t", dir="/tmp"))
    yield folder
    shutil.rmtree(folder)


def left(root: Path) -> list[str]:
    """The processes that `root` appears in: the command line, the environment or an open file; and what lies in it."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            told = (process / "cmdline").read_bytes() + (process / "environ").read_bytes()
            files = [str(file.readlink()) for file in (process / "fd").iterdir()]
        except OSError:
            continue
        if str(root) in "\0".join([told.decode(errors="replace"), *files]):
            found.append(f"{process.name} {told[:80]!r}")
    return found + [str(path) for path in root.iterdir()]


def wait_until(is_so: Callable[[], bool], timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def janitor_of(run: Run) -> int:
    children = Path(f"/proc/{run.process.pid}/task/{run.process.pid}/children").read_text().split()
    return next(int(child) for child in children if b"janitor.py" in Path(f"/proc/{child}/cmdline").read_bytes())


def test_of_two_runs_at_once_the_one_that_is_killed_leaves_nothing_and_the_other_goes_on(root):
    killed, other = Run(root), Run(root)
    address = killed.hears().split()[1]
    assert other.hears().startswith("answers")
    assert other.is_told("die").startswith("answers")  # of which nothing is to be heard, either

    stranger = Run(root, address, RAY_AUTH_MODE="token")
    code, err = stranger.ends()
    assert (code, "another run's own" in err.splitlines()[-1]) == (1, True), err

    killed.process.kill()
    assert killed.ends() == (-signal.SIGKILL, "")
    wait_until(lambda: len(list(root.iterdir())) == 1, timeout_s=120)
    assert len(left(root)) > 5
    assert other.ends() == (0, "")
    wait_until(lambda: not left(root), timeout_s=10)


def test_what_a_killed_run_and_its_killed_janitor_have_left_the_next_start_clears(root):
    mine = root / "render-book-notours"  # neither this, of the right form but without a lock
    mine.mkdir()
    run = Run(root)
    assert run.hears().startswith("answers")
    os.kill(janitor_of(run), signal.SIGKILL)
    run.process.kill()
    run.ends()
    (folder,) = set(root.iterdir()) - {mine}

    following = Run(root)
    assert following.hears() == f"Cleared {folder}, which a run that was killed had left.\n"
    assert not folder.exists()
    assert following.hears().startswith("answers")
    following.is_told("raise")
    code, err = following.ends()
    assert code == 1
    assert err.splitlines()[-1] == "ArithmeticError"
    mine.rmdir()
    wait_until(lambda: not left(root), timeout_s=10)


def test_a_run_that_is_interrupted_leaves_nothing_even_where_its_janitor_was_killed(root):
    run = Run(root)
    assert run.hears().startswith("answers")
    os.kill(janitor_of(run), signal.SIGKILL)
    os.killpg(run.process.pid, signal.SIGINT)  # as a terminal does
    code, err = run.ends()
    assert code == -signal.SIGINT
    assert err.splitlines()[-1] == "KeyboardInterrupt"
    wait_until(lambda: not left(root), timeout_s=10)


def test_a_cluster_is_joined_and_left_as_it_was_and_asks_for_its_token(root):
    token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "a" * 64}
    head = subprocess.Popen(
        [sys.executable, "-c", HEAD, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **token},
    )  # fmt: skip
    assert head.stdout is not None
    address = head.stdout.readline().strip()
    try:
        run = Run(root, address, **token)
        assert run.hears() == f"answers {address}\n"
        assert run.ends() == (0, "")
        code, err = Run(root, address, **{**token, "RAY_AUTH_TOKEN": "b" * 64}).ends()
        assert (code, err.splitlines()[-1].partition(": ")[2]) == (
            1,
            f"The cluster at {address} asks for a token: set RAY_AUTH_MODE=token, and RAY_AUTH_TOKEN or "
            "RAY_AUTH_TOKEN_PATH as on its head.",
        ), err
        assert not list(root.glob("render-book-*"))
    finally:
        head.communicate(timeout=60)


def test_another_version_is_named():
    said = (
        "RuntimeError: Version mismatch: The cluster was started with:\n    Ray: 2.59.0\n    Python: 3.12.1\n"
        "This process on node 192.0.2.2 was started with:\n    Ray: 2.60.0\n    Python: 3.11.7\n"
    )
    assert session._why_not("head:6379", said) == (
        "The cluster at head:6379 runs Ray 2.59.0 with Python 3.12.1, and this is Ray 2.60.0 with Python 3.11.7: "
        "install the same here."
    )


@pytest.mark.parametrize("find", ["_writers_in_proc", "_writers_by_lsof"])
def test_the_janitor_ends_who_writes_into_its_folder_and_nobody_else(root, find, monkeypatch):
    if find == "_writers_by_lsof" and shutil.which("lsof") is None:
        pytest.skip("no lsof")
    monkeypatch.setattr(janitor, "_writers", getattr(janitor, find))
    folder = root / "render-book-abcdefgh"
    (folder / "logs").mkdir(parents=True)
    with (folder / "logs" / "a.log").open("w") as log:  # which this process has open, too: it is the run
        writer = subprocess.Popen(["sleep", "60"], stdout=log)
        with (folder / "logs" / "a.log").open() as reading:
            reader = subprocess.Popen(["sleep", "60"], stdin=reading)
        try:
            janitor.clear(folder, os.getpid())
            assert writer.wait(10) == -signal.SIGKILL
            assert reader.poll() is None
        finally:
            writer.kill()
            reader.kill()
            writer.wait()
            reader.wait()
    assert not folder.exists()


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("name", ["{address}", "auto"])
def test_where_nobody_listens_that_is_said_at_once(name, free_port, monkeypatch):
    address = f"127.0.0.1:{free_port}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    begun = time.monotonic()
    with pytest.raises(UsageError, match=f"No Ray answers at {address} .*: start one"):
        open_session(name.format(address=address), 1, 0, print).__enter__()
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("ray://127.0.0.1:10001", "can't join Ray by ray://"),
        ("http://127.0.0.1:8265", "ray job submit"),
        ("nonsense", "nonsense is no address"),
        ("127.0.0.1:70000", "No Ray answers"),
    ],
)
def test_what_is_no_address_of_a_cluster_is_refused(address, said):
    with pytest.raises(UsageError, match=said):
        open_session(address, 1, 0, print).__enter__()
