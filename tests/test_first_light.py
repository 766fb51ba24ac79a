"""What `make first-light` does with the released weights, done with tiny ones: all of it but the download."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from pipeline.errors import VoiceError
from tests.conftest import SMALL_BOOK, render_book_command
from tests.engines.pocket.conftest import kyutai_voice, transformers_voice

if TYPE_CHECKING:
    from tests.engines.pocket.checkpoints import TinyModel


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> TinyModel:
    from tests.engines.pocket.checkpoints import make_tiny

    return make_tiny(tmp_path_factory.mktemp("first-light"))


@pytest.mark.pocket
def test_ours_says_what_pocket_tts_says(model, tmp_path):
    from pocket_tts import TTSModel

    from benchmarks.first_light import compare_with_pocket_tts
    from tests.engines.pocket.checkpoints import TEXTS

    tts = TTSModel.load_model(config=model.kyutai_yaml, temp=0.0)
    state = tts.get_state_for_audio_prompt(model.kyutai_voice)
    rows = compare_with_pocket_tts(kyutai_voice(tmp_path, model), tts, state, TEXTS)
    assert [row.text for row in rows] == list(TEXTS)
    for row in rows:
        assert row.is_same, row
        assert row.latents_apart < 1e-4
        assert row.sound_apart < 1e-3


@pytest.mark.pocket
def test_ours_says_what_transformers_says(model, tmp_path):
    from safetensors.torch import load_file
    from transformers import PocketTTSForConditionalGeneration, PocketTTSProcessor

    from benchmarks.first_light import compare_with_transformers
    from tests.engines.pocket.checkpoints import TEXTS

    network = PocketTTSForConditionalGeneration.from_pretrained(model.transformers_dir)
    processor = PocketTTSProcessor.from_pretrained(model.transformers_dir)
    cache = load_file(model.transformers_voice)
    rows = compare_with_transformers(transformers_voice(tmp_path, model), network, processor, cache, TEXTS[:3])
    for row in rows:
        assert row.is_same, row
        assert row.latents_apart < 1e-4
        assert row.sound_apart < 1e-3


@pytest.mark.pocket
def test_another_voice_is_seen(model, tmp_path):
    """A comparison that finds everything the same would find that of two models, too."""
    from pocket_tts import TTSModel

    from benchmarks.first_light import compare_with_pocket_tts
    from tests.engines.pocket.checkpoints import TEXTS, make_tiny

    other = make_tiny(tmp_path / "other", seed=1)
    tts = TTSModel.load_model(config=other.kyutai_yaml, temp=0.0)
    state = tts.get_state_for_audio_prompt(other.kyutai_voice)
    [row] = compare_with_pocket_tts(kyutai_voice(tmp_path, model), tts, state, TEXTS[:1])
    assert not row.is_same
    assert row.same_tokens
    assert row.latents_apart > 0.1


@pytest.mark.pocket
def test_what_the_hub_calls_main_is_pinned_for_model_and_codec(model, tmp_path, monkeypatch, capsys):
    from benchmarks import first_light
    from tests.engines.pocket.checkpoints import TEXTS

    folder = shutil.copytree(model.transformers_dir, tmp_path / "snapshot")
    (folder / "voices").mkdir()
    shutil.copy(model.transformers_voice, folder / "voices" / "alba.safetensors")

    def locate(source: str, *, fetch: bool) -> Path:
        return {"eustlb/pocket-tts@abc123": folder, f"{model.codec_dir}@abc123": model.codec_dir}[source]

    monkeypatch.setattr("pipeline.engines.pocket.hub.locate_folder", locate)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: SimpleNamespace(sha="abc123"))
    monkeypatch.setattr(first_light, "SENTENCES", TEXTS[:2])
    rows = first_light.transformers_on_hub(kyutai_voice(tmp_path, model))
    assert [row.is_same for row in rows] == [True, True]
    assert f"eustlb/pocket-tts@abc123, codec {model.codec_dir}@abc123" in capsys.readouterr().out


@pytest.mark.speech
def test_a_rendered_book_is_heard_chapter_by_chapter(tmp_path):
    from benchmarks.first_light import Compared, heard_in, misheard, table

    (tmp_path / "small.txt").write_text(SMALL_BOOK)
    ran = render_book_command("small.txt", "--voice", "joe", "--output", "out", cwd=tmp_path, timeout=300)
    assert ran.code == 0, ran.err
    heard = heard_in(tmp_path / "out")
    assert [title for title, _ in heard] == ["Chapter 1", "Chapter 2"]
    assert misheard(heard) <= 0.2, heard
    lines = table({"pocket-tts": [Compared("Come in, Tom!", True, (20, 21), 1e-6, 1e-5)]}, heard)
    assert "20/21" in lines[2]
    assert lines[2].endswith("<--")
    assert lines[-1].split()[0] == "all"


def test_without_a_network_it_says_what_is_missing(monkeypatch, tmp_path):
    from benchmarks.first_light import main

    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(VoiceError, match="alba needs"):
        main(Path("no.epub"), tmp_path / "out")
