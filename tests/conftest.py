"""Fixtures for tests at the level of a user: manuscripts, voices that misbehave, and the command itself."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def render_book_command(*words: object, cwd: Path, timeout: float = 120) -> Ran:
    """The command as a user types it, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "pipeline.cli", *map(str, words)],
        cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


@pytest.hookimpl(tryfirst=True)  # xdist reads the groups in this same hook, and would come first
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where tests run in two processes, those with a cluster run one after another in one of them, since a cluster
    takes the machine and Ray's ports for its own; but for those of models, which are long and ask for neither.
    Others stay together by their files, whose fixtures are dear."""
    for item in items:
        has_cluster = item.get_closest_marker("ray") is not None
        is_alone = has_cluster and not any(item.get_closest_marker(model) for model in ("pocket", "codec"))
        item.add_marker(pytest.mark.xdist_group("ray" if is_alone else item.nodeid.partition("::")[0]))
        if has_cluster:  # Ray leaves sockets, and machines that a cluster lost, to the garbage collector
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Groups that aren't applied are an error: with pytest 9.2, xdist 3.8 took them for nothing, and said nothing."""
    if getattr(session.config.option, "loadgroup", False):
        assert all("@" in item.nodeid for item in session.items), "xdist doesn't apply this version of pytest's groups"


@pytest.fixture(autouse=True, scope="session")
def no_lexicon_of_the_users() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RENDER_BOOK_LEXICON", "")
        yield


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """The command in this process, in `tmp_path`: what it prints and its exit code, ten times as fast."""

    def run(*words: object) -> Ran:
        from pipeline.cli import main

        monkeypatch.chdir(tmp_path)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
            main([str(word) for word in words])
        return Ran(int(ended.value.code or 0), out.getvalue(), err.getvalue())

    return run


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    path = tmp_path / "small.txt"
    path.write_text(SMALL_BOOK)
    return path


SMALL_BOOK = """Chapter 1

The lamp was lit at six. Nobody saw it.

“Is it you?” she asked.

“Yes.”

He had 42 lamps to light, and a thousand steps to climb.

Chapter 2

It rained all night. In the morning the river had gone.

* * *

They never spoke of it again.
"""


def write_voice(folder: Path, *faults: str) -> Path:
    """A tone that misbehaves as told: each fault is a flow mapping such as `{match: river, do: clip}`."""
    path = folder / "faulty.yaml"
    listed = "".join(f"\n    - {fault}" for fault in faults)
    path.write_text(f"engine: tone\nlanguage: en\nlicence: CC0-1.0\noptions:\n  faults:{listed or ' []'}\n")
    return path


def report_of(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report


def digests(folder: Path) -> dict[str, str]:
    """The chapter files of an output folder, by name."""
    files = sorted((folder / "chapters").glob("*.flac"))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
