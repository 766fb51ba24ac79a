"""An environment of its own for an engine whose packages can't stand beside ours.

On this machine it is a folder of those packages, into which a worker's Python looks before it looks into ours. It is
made once and kept, below the user's cache folder. On a cluster, whose machines aren't ours, it is Ray's pip
environment: on each machine, ours with other packages in it, for as long as the cluster runs. Neither resolves
anything (`--no-deps`): a resolver would fetch another torch. Figures in docs/decisions/0019.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from pipeline.errors import NoEnvironmentError

_OPTIONS = ("--no-deps", "--disable-pip-version-check")
_LONGEST_S = 600.0


def own_environment(engine: str, packages: Sequence[str], on_message: Callable[[str], None]) -> dict[str, Any]:
    """What Ray's `runtime_env` must say for workers on this machine. Raises `NoEnvironmentError`."""
    folder = own_packages(engine, packages, on_message)
    before = os.environ.get("PYTHONPATH", "")
    return {"env_vars": {"PYTHONPATH": os.pathsep.join([str(folder), *([before] if before else [])])}}


def cluster_environment(packages: Sequence[str]) -> dict[str, Any]:
    """What it must say for workers on a cluster."""
    return {"pip": {"packages": [*packages], "pip_check": False, "pip_install_options": [*_OPTIONS]}}


def own_packages(engine: str, packages: Sequence[str], on_message: Callable[[str], None]) -> Path:
    """The folder with these packages, for this Python: made where it isn't there. Raises `NoEnvironmentError`."""
    made_of = [*packages, sys.implementation.cache_tag or "", sysconfig.get_platform()]
    digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "render-book" / "environments" / f"{engine}-{digest}"
    if folder.is_dir():
        return folder
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not folder.is_dir():  # another run has just made it
                on_message(f"Building the environment of the engine {engine}, once: {folder}.")
                _install(engine, packages, folder)
    except OSError as error:
        raise NoEnvironmentError(explain_failure(engine, packages, str(error))) from None
    return folder


def explain_failure(engine: str, packages: Sequence[str], said: str) -> str:
    """One sentence with a remedy, from what pip or Ray says of an environment that it couldn't build."""
    reason, remedy = _reason(said)
    return (
        f"The engine {engine} needs an environment of its own ({', '.join(packages)}), which can't be built "
        f"({reason}): {remedy}."
    )


def _install(engine: str, packages: Sequence[str], folder: Path) -> None:
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)  # of a run that was killed
    command = [sys.executable, "-m", "pip", "install", *_OPTIONS, "--quiet", "--target", str(part), *packages]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        raise NoEnvironmentError(explain_failure(engine, packages, "the package index is too slow")) from None
    if done.returncode != 0:
        shutil.rmtree(part, ignore_errors=True)
        raise NoEnvironmentError(explain_failure(engine, packages, done.stderr))
    part.rename(folder)


def _reason(said: str) -> tuple[str, str]:
    for missing in ("virtualenv", "pip"):
        if f"install {missing}" in said or f"No module named {missing}" in said:
            return f"{missing} isn't installed", "pip install 'render-book[qwen3]'"
    if "No space left on device" in said:
        return "no space is left", "set XDG_CACHE_HOME, on a cluster TMPDIR, to a folder with more room"
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["nobody says why"]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    reason = (errors or lines)[-1].rstrip(".")
    return reason[:200], "give pip an index that has them (PIP_INDEX_URL), or their wheels (PIP_FIND_LINKS)"
