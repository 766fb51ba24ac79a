"""The same weights, text, voice and noise sound as in both of the libraries that Pocket TTS is published for."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch import Tensor

from pipeline.engines import hub, registry
from pipeline.engines.base import Request
from pipeline.engines.eos import tail_frames
from pipeline.engines.pocket.model import open_model
from tests.engines.pocket.conftest import (
    MakeTiny,
    kyutai_voice,
    latents_caught,
    open_engine,
    requests_of,
    speak,
    transformers_voice,
)

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("one_thread")]

CLOSE = 1e-4
USUAL: dict[str, dict[str, Any]] = {"lsd": {"flow": "lsd"}, "drifting": {"flow": "drifting", "seed": 1}}
"""The kinds of model that both formats hold."""


def noise_of(request: Request) -> Callable[[int], Tensor] | None:
    """The noise that a request's seed gives, frame by frame, for a reference to use; None without any."""
    if not request.sampling["temperature"]:
        return None
    generator = torch.Generator().manual_seed(request.seed)
    noise = torch.randn(request.budget, 32, generator=generator) * request.sampling["temperature"] ** 0.5
    return lambda frame: noise[frame]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    from tests.engines.pocket.checkpoints import TEXTS

    return list(TEXTS[:7])


@pytest.mark.parametrize("temperature", [0.0, 0.3])
@pytest.mark.parametrize("flow", USUAL)
def test_latents_are_those_of_transformers(
    tiny: MakeTiny, tmp_path: Path, texts: list[str], flow: str, temperature: float
) -> None:
    from tests.engines.pocket.checkpoints import reference_transformers

    model = tiny(**USUAL[flow])
    voice = transformers_voice(tmp_path, model)
    requests = requests_of(voice, texts, temperature=temperature)
    engine = open_engine(voice, num_slots=3)
    caught = latents_caught(engine)
    takes = speak(engine, requests)
    assert model.transformers_dir is not None
    stats = load_file(model.transformers_dir / "model.safetensors")
    for request in requests:
        theirs = reference_transformers(model, request.text, noise=noise_of(request))
        ours = torch.cat(caught[request.key]) * stats["latent_std"] + stats["latent_mean"]
        assert (takes[request.key].num_frames, takes[request.key].stop) == (len(theirs), "eos")
        assert ours.shape == theirs.shape
        assert float((ours - theirs).abs().max()) < CLOSE


@pytest.mark.parametrize("temperature", [0.0, 0.3])
@pytest.mark.parametrize(
    "kind",
    [*USUAL.values(), {"flow": "drifting", "small": True}, {"flow": "pointwise", "small": True}],
    ids=["lsd", "drifting", "small-drifting", "small-pointwise"],
)
def test_waveforms_are_those_of_kyutai(
    tiny: MakeTiny, tmp_path: Path, texts: list[str], kind: dict[str, Any], temperature: float
) -> None:
    from tests.engines.pocket.checkpoints import reference_kyutai

    model = tiny(**kind)
    voice = kyutai_voice(tmp_path, model)
    requests = requests_of(voice, texts, temperature=temperature)
    engine = open_engine(voice, num_slots=3)
    caught = latents_caught(engine)
    takes = speak(engine, requests)
    for request in requests[::2]:
        latents, waveform = reference_kyutai(model, request.text, noise=noise_of(request))
        take = takes[request.key]
        assert (take.num_frames, take.stop) == (len(latents), "eos")
        assert float((torch.cat(caught[request.key]) - latents).abs().max()) < CLOSE
        assert take.samples.shape == waveform.shape
        assert np.abs(take.samples - waveform).max() < CLOSE


@pytest.mark.parametrize("flow", USUAL)
def test_both_formats_of_a_model_sound_alike(tiny: MakeTiny, tmp_path: Path, texts: list[str], flow: str) -> None:
    model = tiny(**USUAL[flow])
    one, other = (
        speak(open_engine(voice), requests_of(voice, texts, temperature=0.3))
        for voice in (kyutai_voice(tmp_path, model), transformers_voice(tmp_path, model))
    )
    for key, take in one.items():
        assert take.samples.shape == other[key].samples.shape
        assert np.abs(take.samples - other[key].samples).max() < CLOSE


def test_what_a_checkpoint_sets_for_its_sampling_is_used(tiny: MakeTiny, tmp_path: Path, texts: list[str]) -> None:
    """Of a transformers checkpoint: a threshold never reached, so that the budget shows too; and no sampling."""
    from tests.engines.pocket.checkpoints import reference_transformers

    made = tiny(flow="lsd")
    assert made.transformers_dir is not None
    model = dataclasses.replace(made, transformers_dir=tmp_path / "endless")
    shutil.copytree(made.transformers_dir, tmp_path / "endless")
    file = tmp_path / "endless" / "generation_config.json"
    set_ = json.loads(file.read_text()) | {"eos_threshold": 1e9, "do_sample": False}
    set_.pop("temperature")
    file.write_text(json.dumps(set_))
    voice = transformers_voice(tmp_path, model)
    request = dataclasses.replace(requests_of(voice, texts[:1])[0], sampling={})
    engine = open_engine(voice)
    caught = latents_caught(engine)
    take = speak(engine, [request])[request.key]
    theirs = reference_transformers(model, request.text)
    stats = load_file(model.transformers_dir / "model.safetensors")
    ours = torch.cat(caught[request.key]) * stats["latent_std"] + stats["latent_mean"]
    assert (take.stop, take.num_frames) == ("budget", len(theirs))
    assert float((ours - theirs).abs().max()) < CLOSE


def test_what_a_config_sets_for_its_sampling_is_used(tiny: MakeTiny, tmp_path: Path, texts: list[str]) -> None:
    """Of a Kyutai config: its own tail and its own threshold."""
    from tests.engines.pocket.checkpoints import reference_kyutai

    made = tiny(flow="lsd")
    config = yaml.safe_load(made.kyutai_yaml.read_text())
    for changed, stop in (
        ({"model_recommended_frames_after_eos": 7}, "eos"),
        ({"default_eos_threshold": 1e9}, "budget"),
    ):
        model = dataclasses.replace(made, kyutai_yaml=tmp_path / f"until-{stop}.yaml")
        model.kyutai_yaml.write_text(yaml.safe_dump(config | changed))
        voice = kyutai_voice(tmp_path, model)
        requests = requests_of(voice, texts[:2])
        takes = speak(open_engine(voice), requests)
        for request in requests:
            take = takes[request.key]
            _, waveform = reference_kyutai(model, request.text)
            assert take.stop == stop
            assert take.samples.shape == waveform.shape
            assert np.abs(take.samples - waveform).max() < CLOSE


# Text

_MARKS = st.sampled_from([*".!?…,;:-–—'\"’‘“”„«»()[]¡¿ \n\t", "..."])
_WORDS = st.sampled_from(["he", "she", "Tom", "été", "ﬁn", "straße", "ñu", "3.5", "İstanbul", "ǆ", "o'clock"])
ANY_TEXT = st.lists(st.one_of(_MARKS, _WORDS, st.text(max_size=3)), max_size=12).map("".join)
WORDS = st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=6), min_size=1, max_size=9)


@pytest.fixture(scope="module", params=["english", "french", "german", "spanish", "english_2026-01"])
def preparations(
    request: pytest.FixtureRequest, tiny: MakeTiny
) -> tuple[Callable[[str], str], Callable[[str], tuple[str, int]]]:
    """A model's preparation of text, ours and upstream's."""
    from pocket_tts.models.text_chunking import prepare_text_prompt
    from pocket_tts.utils.config import CONFIGS_DIR, load_config

    tokenizer = tiny(flow="lsd").folder / "tokenizer.json"
    with mock.patch.object(hub, "locate", return_value=tokenizer):
        ours, _ = open_model(request.param).open_text(fetch=False)
    config = load_config(CONFIGS_DIR / f"{request.param}.yaml")
    theirs = partial(
        prepare_text_prompt,
        pad_with_spaces_for_short_inputs=config.pad_with_spaces_for_short_inputs,
        remove_semicolons=config.remove_semicolons,
        append_terminal_punctuation=config.append_terminal_punctuation,
        capitalize_first_letter=config.capitalize_first_letter,
        replace_characters=config.replace_characters,
    )
    return ours, theirs


@given(ANY_TEXT)
@example('"Hi?", she said')
@example("one two three four –")
@example("“Wait –” he said; ‘no’")
@example("¡Hola!, dijo: «adiós»;")
def test_texts_are_prepared_as_upstream_does(
    preparations: tuple[Callable[[str], str], Callable[[str], tuple[str, int]]], text: str
) -> None:
    ours, theirs = preparations
    try:
        expected, _ = theirs(text)
    except ValueError:  # nothing left of it: upstream refuses, here no chunk is made of it
        assert ours(text).strip() == ""
        return
    assert ours(text) == expected


@pytest.fixture(scope="module", params=["tokenizers", "sentencepiece"])
def tokenizers(request: pytest.FixtureRequest, tiny: MakeTiny) -> tuple[Callable[[str], list[int]], Any]:
    """Ours and upstream's, of one of the two kinds."""
    from pocket_tts.modules.text_conditioner import JsonTokenizer, SentencePieceTokenizer

    is_json = request.param == "tokenizers"
    model = tiny(flow="lsd") if is_json else tiny(flow="drifting", small=True)
    table = yaml.safe_load(model.kyutai_yaml.read_text())["flow_lm"]["lookup_table"]
    _, encode = open_model(str(model.kyutai_yaml)).open_text(fetch=False)
    return encode, (JsonTokenizer if is_json else SentencePieceTokenizer)(table["n_bins"], table["tokenizer_path"])


@given(ANY_TEXT)
@example("        Yes.")
def test_tokens_are_those_of_upstream(tokenizers: tuple[Callable[[str], list[int]], Any], text: str) -> None:
    ours, theirs = tokenizers
    assert ours(text) == theirs(text)[0].long().tolist()


@pytest.fixture(scope="module")
def processor(tiny: MakeTiny) -> Any:
    from transformers import PocketTTSProcessor

    return PocketTTSProcessor.from_pretrained(tiny(flow="lsd").transformers_dir)


@pytest.fixture(scope="module")
def chat_text(tiny: MakeTiny) -> tuple[Callable[[str], str], Callable[[str], list[int]]]:
    model = tiny(flow="lsd")
    return open_model(str(model.transformers_dir), str(model.codec_dir)).open_text(fetch=False)


@given(ANY_TEXT.filter(str.strip))
def test_tokens_of_a_chat_template_are_those_of_transformers(
    chat_text: tuple[Callable[[str], str], Callable[[str], list[int]]], processor: Any, text: str
) -> None:
    prepare, encode = chat_text
    prepared = prepare(text)
    chat = [{"role": "user", "content": [{"type": "text", "text": prepared}]}]
    theirs = processor(text=processor.apply_chat_template(chat), return_tensors="pt")["input_ids"][0].tolist()
    audio = processor.tokenizer.convert_tokens_to_ids("<|audio_bos|>")
    assert [*encode(prepared), audio] == theirs


@given(WORDS)
@example(["one", "two", "three", "four"])
@example(["one", "two", "three", "four", "five"])
def test_a_text_has_the_tail_that_both_libraries_give_it(processor: Any, words: list[str]) -> None:
    """Of words with a mark: both count otherwise where a last comma or dash stands alone, and not alike."""
    from pocket_tts.models.text_chunking import prepare_text_prompt

    prepared, guess = prepare_text_prompt(" ".join(words) + ".", False, False)
    assert tail_frames(prepared) == guess + 2 - 1  # its count takes the end-of-speech frame for the first of the tail
    chat = [{"role": "user", "content": [{"type": "text", "text": prepared}]}]
    inputs = processor(text=processor.apply_chat_template(chat), return_tensors="pt")
    assert tail_frames(prepared) == int(inputs["frames_after_eos"])


def test_the_budget_is_upstreams(tiny: MakeTiny, tmp_path: Path) -> None:
    from pocket_tts import TTSModel

    model = tiny(flow="lsd")
    upstream = TTSModel.load_model(config=model.kyutai_yaml)
    frontend = registry.open_frontend(kyutai_voice(tmp_path, model))
    for count in range(1, 60):
        text = "the " * count
        assert frontend.budget(text) == upstream._estimate_max_gen_len(frontend.num_tokens(text))
