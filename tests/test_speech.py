"""The demo, spoken by joe and heard by Whisper."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest

from pipeline.engines.base import Engine, Hardware, RawTake, Request
from pipeline.engines.piper import PiperEngine, open_engine
from pipeline.errors import VoiceError
from pipeline.profile import read_profile
from pipeline.voices import Voice, read_voice
from tests.conftest import ROOT, render_book_command
from tests.test_shapes import marks

pytestmark = pytest.mark.speech


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of the demo."""
    folder = tmp_path_factory.mktemp("demo")
    build = [sys.executable, "examples/build_epub.py", "examples/story", str(folder / "story.epub")]
    subprocess.run(build, cwd=ROOT, check=True)
    ran = render_book_command(folder / "story.epub", "--voice", "joe", "--output", "out", cwd=folder, timeout=300)
    assert ran.code == 0, ran.err
    return folder / "out"


def test_the_demo_is_heard_as_it_was_written(demo):
    """A word error rate of at most 10% over all, and of 15% in any chapter."""
    from pipeline.review.transcribe import listen, open_listener

    listener = open_listener()
    plan = json.loads((demo / "script.json").read_text())
    errors, words = 0.0, 0
    for chapter in plan["chapters"]:
        said = " ".join(chunk["text"] for chunk in chapter["chunks"])
        heard = listen(listener, demo / "chapters" / f"{chapter['index']:03}.flac", said)
        assert heard.word_error_rate <= 0.15, f"{chapter['title']}: {heard}"
        errors += heard.word_error_rate * len(said.split())
        words += len(said.split())
    assert words > 900
    assert errors / words <= 0.10


def test_the_demo_m4b_has_three_titled_chapters_a_cover_and_sound(demo):
    [m4b] = demo.glob("*.m4b")
    found, seconds = marks(m4b)
    assert [title for title, _, _ in found] == ["The Boy with the Box", "Under the Floor", "The Lighthouse"]
    assert found[0][1] == 0
    assert found[-1][2] == pytest.approx(seconds, abs=0.1)
    assert seconds > 200
    with av.open(str(m4b)) as container:
        assert container.streams.video[0].codec_context.name in ("png", "mjpeg")
        assert container.metadata["title"] == "The Clock That Waited"


def test_the_demo_leaves_out_its_footnote_and_says_so(demo):
    plan = json.loads((demo / "script.json").read_text())
    said = " ".join(chunk["text"] for chapter in plan["chapters"] for chunk in chapter["chunks"])
    assert "A pendulum is the weight" not in said
    assert any("A pendulum is the weight" in left["text"] for left in plan["left_out"])
    assert "forty-two clocks" in said
    assert "one thousand two hundred people" in said


@pytest.fixture(scope="module")
def engine() -> PiperEngine:
    return open_engine(read_voice("joe"), Hardware())


def take(engine: Engine, text: str, seed: int) -> np.ndarray:
    engine.admit(Request("k", text, 0, seed, 100_000, read_profile(None).engines.piper.model_dump()))
    [raw] = engine.step()
    assert isinstance(raw, RawTake)
    return raw.samples


def test_piper_says_the_same_bytes_for_the_same_text_and_seed(engine):
    text = "Nobody looked up. The lamps were lit."
    first, again, other = (take(engine, text, seed) for seed in (1, 1, 2))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()
    take(engine, "Something else came between.", 7)
    assert take(engine, text, 1).tobytes() == first.tobytes()
    assert take(open_engine(read_voice("joe"), Hardware()), text, 1).tobytes() == first.tobytes()


def test_a_model_file_that_is_another_one_is_refused():
    joe = read_voice("joe")
    voice = Voice(joe.name, joe.engine, "d", "en", joe.licence, "", {**joe.options, "sha256": "0" * 64})
    with pytest.raises(VoiceError, match="sha256 differs"):
        open_engine(voice, Hardware())
