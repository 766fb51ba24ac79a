"""The wheel, in an environment that has nothing else, from a folder that isn't the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.package


def run(*words: object, cwd: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_works_in_an_empty_environment(tmp_path):
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, ROOT, cwd=tmp_path)
    [wheel] = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in (
        "_data/voices/joe.yaml",
        "_data/configs/default.yaml",
        "script/punkt/en.json",
        "engines/pocket/kyutai_models.yaml",
    ):
        assert f"pipeline/{name}" in names
    assert not [name for name in names if name.startswith(("tests", "output", "examples"))]
    run(sys.executable, "-m", "venv", tmp_path / "empty", cwd=tmp_path)
    python = tmp_path / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "-c", ROOT / "constraints.txt", f"{wheel}[offline]", cwd=tmp_path)
    command = python.with_name("render-book")
    nowhere = Path("/")
    assert "joe" in run(command, "voices", cwd=nowhere)
    (tmp_path / "one.txt").write_text("This is a book of one sentence.")
    out = run(command, tmp_path / "one.txt", "--voice", "joe", "--output", tmp_path / "out", cwd=nowhere)
    assert (tmp_path / "out" / "one.m4b").is_file()
    assert "x real time" in out
