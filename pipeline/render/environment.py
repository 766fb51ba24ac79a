"""An environment of its own for an engine whose packages can't stand beside ours: what Ray is told, and why it failed.

Ray's pip runtime environment: on each machine, a copy of ours with other packages in it. Nothing is resolved
(`--no-deps`): a resolver would fetch another torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_OPTIONS = ("--no-deps", "--disable-pip-version-check")


def runtime_env(packages: Sequence[str]) -> dict[str, Any]:
    """What Ray's `runtime_env` must say for these requirements of pip."""
    return {"pip": {"packages": [*packages], "pip_check": False, "pip_install_options": [*_OPTIONS]}}


def explain_failure(engine: str, packages: Sequence[str], said: str) -> str:
    """One sentence with a remedy, from what Ray says of an environment that it couldn't build."""
    reason, remedy = _reason(said)
    return (
        f"The engine {engine} needs an environment of its own ({', '.join(packages)}), which can't be built "
        f"({reason}): {remedy}."
    )


def _reason(said: str) -> tuple[str, str]:
    if "install virtualenv" in said:
        return "virtualenv isn't installed", "pip install 'render-book[qwen3]'"
    if "No module named pip" in said:
        return "pip isn't installed", "pip install 'render-book[qwen3]'"
    if "No space left on device" in said:
        return "no space is left", "set TMPDIR to a folder with as much room as this environment takes"
    lines = [line.strip() for line in said.splitlines() if line.strip()] or ["Ray doesn't say why"]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    reason = (errors or lines)[-1].rstrip(".")
    return reason[:200], "give pip an index that has them (PIP_INDEX_URL), or their wheels (PIP_FIND_LINKS)"
