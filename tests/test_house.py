"""The rules of the house: who may import whom, and where each heavy library lives."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

PIPELINE = ROOT / "pipeline"
SOURCES = sorted(PIPELINE.rglob("*.py"))

MAY_IMPORT = {
    "manuscript": {"errors"},
    "script": {"manuscript", "engines.base", "strict_yaml", "errors"},
    "engines": {"engines", "script.script", "voices", "errors", "strict_yaml"},
    "render": {"engines.base", "script", "voices", "errors", "whole_file"},
    "master": {"script.script", "render.takes", "render.store", "render.pcm", "errors", "whole_file", "beside"},
    "review": {"script.spoken", "errors", "whole_file"},
}
"""Beside itself. What a room is not listed for, it doesn't know."""

HOMES = {
    "torch": ["engines"],
    "transformers": ["engines"],
    "qwen_tts": ["engines/qwen3/package.py"],
    "onnx": ["engines/piper.py"],
    "onnxruntime": ["engines/piper.py"],
    "piper": ["engines/piper.py"],
    "ray": ["render/cluster.py", "render/session.py"],
    "av": ["master/aac.py", "master/deliver.py", "engines/recording.py"],
    "pydub": ["render/pcm.py"],
    "lxml": ["manuscript"],
    "nltk": ["script/sentence_words.py"],
    "spellchecker": ["script/unknown.py"],
    "tinycss2": ["manuscript/stylesheet.py"],
    "cssselect": ["manuscript/selectors.py"],
    "tqdm": ["progress.py"],
    "click": ["cli.py"],
    "faster_whisper": ["review/transcribe.py"],
    "jiwer": ["review/transcribe.py"],
}


def imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 or path.parent.name == "manuscript", "absolute imports"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PIPELINE)))
def test_rooms_know_only_their_neighbours(path):
    room = path.relative_to(PIPELINE).parts[0]
    if room not in MAY_IMPORT:
        return
    for name in imports(path):
        if not name.startswith("pipeline."):
            continue
        target = name.removeprefix("pipeline.")
        allowed = {room, *MAY_IMPORT[room]}
        assert any(target == other or target.startswith(f"{other}.") for other in allowed), f"{path}: {name}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PIPELINE)))
def test_heavy_libraries_live_in_one_room_each(path):
    place = path.relative_to(PIPELINE).as_posix()
    for name in imports(path):
        homes = HOMES.get(name.partition(".")[0])
        assert homes is None or any(place == home or place.startswith(f"{home}/") for home in homes), f"{place}: {name}"


def test_no_room_is_called_after_nothing():
    for path in SOURCES:
        assert not any(word in path.stem for word in ("util", "helper", "common", "misc", "manager")), path


def test_importing_the_command_loads_nothing_heavy():
    code = (
        "import sys, pipeline.cli; "
        "heavy = ('torch', 'ray', 'transformers', 'onnxruntime', 'av', 'nltk', 'numpy', 'lxml'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
