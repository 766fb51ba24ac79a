"""A voice in each form it is kept in sounds the same; one that doesn't fit the model is refused in a sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from pipeline.engines import registry
from pipeline.engines.base import Hardware
from pipeline.errors import VoiceError
from pipeline.voices import read_voice
from tests.engines.pocket.conftest import (
    MakeTiny,
    kyutai_voice,
    latents_caught,
    open_engine,
    requests_of,
    speak,
    transformers_voice,
    write_voice,
)

if TYPE_CHECKING:
    from tests.engines.pocket.checkpoints import TinyModel

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("one_thread")]

CLOSE = 1e-4
TEXTS = ("The lamp went out.", "Nobody had told her about the bridge.", "Come in, Tom!")
Tensors = dict[str, Tensor]


@pytest.fixture(scope="module")
def model(tiny: MakeTiny) -> TinyModel:
    return tiny(flow="lsd")


@pytest.mark.parametrize("form", ["kyutai", "transformers"])
def test_a_voice_sounds_the_same_in_each_form(model: TinyModel, tmp_path: Path, form: str) -> None:
    """Each state in a model of either format, its own or the other's; and the recording's latents in both."""
    voice = (kyutai_voice if form == "kyutai" else transformers_voice)(tmp_path, model)
    requests = requests_of(voice, TEXTS)
    latents, samples = [], []
    for state in (model.kyutai_voice, model.transformers_voice, model.voice_latents):
        engine = open_engine(write_voice(tmp_path / "voice.yaml", **{**voice.options, "state": state}))
        caught = latents_caught(engine)
        takes = speak(engine, requests)
        latents.append(torch.cat([torch.cat(caught[request.key]) for request in requests]))
        samples.append(np.concatenate([takes[request.key].samples for request in requests]))
    for other in (1, 2):
        assert latents[0].shape == latents[other].shape
        assert float((latents[0] - latents[other]).abs().max()) < CLOSE
        assert np.abs(samples[0] - samples[other]).max() < CLOSE


def test_a_voice_is_opened_as_a_run_does(model: TinyModel, tmp_path: Path) -> None:
    """By a voice file's path, its state beside it, on whatever hardware there is."""
    write_voice(tmp_path / "mine.yaml", model.kyutai_yaml, "mine.safetensors")
    save_file(load_file(model.kyutai_voice), tmp_path / "mine.safetensors")
    voice = read_voice(str(tmp_path / "mine.yaml"))
    registry.check_model(voice)
    threads = torch.get_num_threads()
    try:
        engine = registry.open_engine(voice, Hardware())
        requests = requests_of(voice, TEXTS)
        takes = speak(engine, requests)
    finally:
        torch.set_num_threads(threads)
    expected = speak(open_engine(kyutai_voice(tmp_path, model)), requests)
    for key, take in expected.items():
        assert (takes[key].num_frames, takes[key].stop) == (take.num_frames, "eos")
        assert np.abs(takes[key].samples - take.samples).max() < CLOSE


def test_a_state_in_bfloat16_is_a_voice_too(model: TinyModel, tmp_path: Path) -> None:
    """As published files may hold it: near enough to the voice, and not taken for another model's."""
    expected = speak(open_engine(kyutai_voice(tmp_path, model)), requests_of(kyutai_voice(tmp_path, model), TEXTS))
    for form in (model.kyutai_voice, model.transformers_voice, model.voice_latents):
        assert form is not None
        halved = {name: t.bfloat16() if t.is_floating_point() else t for name, t in load_file(form).items()}
        save_file(halved, tmp_path / "half.safetensors")
        voice = write_voice(tmp_path / "half.yaml", model.kyutai_yaml, "half.safetensors")
        takes = speak(open_engine(voice), requests_of(voice, TEXTS))
        for key, take in takes.items():
            length = min(len(take.samples), len(expected[key].samples), 6 * 1920)
            assert np.abs(take.samples[:length] - expected[key].samples[:length]).max() < 0.1


def test_a_state_of_other_weights_is_refused_by_name(tiny: MakeTiny, model: TinyModel, tmp_path: Path) -> None:
    other = tiny(flow="drifting", seed=1)
    for state in (other.kyutai_voice, other.transformers_voice):
        voice = write_voice(tmp_path / "stranger.yaml", model.kyutai_yaml, str(state))
        with pytest.raises(VoiceError, match=r"The voice stranger was made by other weights .*safetensors"):
            open_engine(voice)


def test_a_request_in_a_voice_of_another_model_is_refused(tiny: MakeTiny, model: TinyModel, tmp_path: Path) -> None:
    voice = kyutai_voice(tmp_path, model)
    other = tiny(flow="drifting", seed=1)
    stranger = write_voice(tmp_path / "stranger.yaml", other.kyutai_yaml, other.kyutai_voice)
    (request,) = requests_of(voice, TEXTS[:1])
    with pytest.raises(VoiceError, match="The voice stranger is of the model"):
        open_engine(voice).admit(dataclasses.replace(request, voice=stranger))


def unturned(state: Tensors) -> Tensors:
    """Kyutai's keys under transformers' names, not regrouped from pairs to halves: every shape fits."""
    made = {}
    for number in range(2):
        cache = state[f"transformer.layers.{number}.self_attn/cache"]
        length = int(state[f"transformer.layers.{number}.self_attn/offset"])
        made[f"layers.{number}.keys"], made[f"layers.{number}.values"] = cache[:, :, :length].transpose(2, 3).clone()
    return made


def with_keys_and_values_swapped(state: Tensors) -> Tensors:
    return {name: tensor.flip(0) if name.endswith("/cache") else tensor for name, tensor in state.items()}


def without_its_last_layer(state: Tensors) -> Tensors:
    return {name: tensor for name, tensor in state.items() if "layers.1." not in name}


def without_its_first_layer(state: Tensors) -> Tensors:
    return {name: tensor for name, tensor in state.items() if "layers.0." not in name}


def with_one_more_layer(state: Tensors) -> Tensors:
    return state | {name.replace("s.1.", "s.2."): tensor.clone() for name, tensor in state.items() if "s.1." in name}


def with_half_its_heads(state: Tensors) -> Tensors:
    return {name: t[..., :2, :].clone() if name.endswith("/cache") else t for name, t in state.items()}


def with_heads_of_half_the_size(state: Tensors) -> Tensors:
    return {name: t[..., :8].clone() if name.endswith("/cache") else t for name, t in state.items()}


def with_a_number_that_is_none(state: Tensors) -> Tensors:
    name = "transformer.layers.1.self_attn/cache"
    broken = state[name].clone()
    broken[1, 0, 3, 0, 0] = torch.nan
    return state | {name: broken}


def with_no_positions(state: Tensors) -> Tensors:
    return {name: tensor * 0 if name.endswith("/offset") else tensor for name, tensor in state.items()}


def with_a_dimension_less(state: Tensors) -> Tensors:
    return {name: tensor[:, 0] if name.endswith("/cache") else tensor for name, tensor in state.items()}


def without_values(state: Tensors) -> Tensors:
    return {name: tensor for name, tensor in unturned(state).items() if not name.endswith("values")}


def with_another_models_latents(_: Tensors) -> Tensors:
    return {"audio_prompt_latents": torch.zeros(8, 48)}


def with_latents_that_are_none(_: Tensors) -> Tensors:
    return {"audio_prompt_latents": torch.full((8, 32), torch.nan)}


def with_something_else(_: Tensors) -> Tensors:
    return {"lm_head.weight": torch.zeros(4, 4)}


@pytest.mark.parametrize(
    ("harm", "says"),
    [
        (unturned, "other weights"),
        (with_keys_and_values_swapped, "other weights"),
        (without_its_last_layer, "other weights"),
        (without_its_first_layer, "broken"),
        (with_one_more_layer, "other weights"),
        (with_half_its_heads, "other weights"),
        (with_heads_of_half_the_size, "other weights"),
        (with_a_number_that_is_none, "broken"),
        (with_no_positions, "broken"),
        (with_a_dimension_less, "broken"),
        (without_values, "broken"),
        (with_another_models_latents, "encoded for another model"),
        (with_latents_that_are_none, "broken"),
        (with_something_else, "holds no voice"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_file_that_is_no_voice_of_the_model_is_refused(
    model: TinyModel, tmp_path: Path, harm: Callable[[Tensors], Tensors], says: str
) -> None:
    save_file(
        {name: tensor.contiguous() for name, tensor in harm(load_file(model.kyutai_voice)).items()},
        tmp_path / "harmed.safetensors",
    )
    voice = write_voice(tmp_path / "harmed.yaml", model.kyutai_yaml, "harmed.safetensors")
    with pytest.raises(VoiceError) as refused:
        open_engine(voice)
    assert "harmed" in str(refused.value)
    if says != "broken":  # however it is put
        assert says in str(refused.value)


def test_a_file_cut_short_is_refused(model: TinyModel, tmp_path: Path) -> None:
    whole = model.kyutai_voice.read_bytes()
    voice = write_voice(tmp_path / "cut.yaml", model.kyutai_yaml, "cut.safetensors")
    for length in (0, 7, 60, len(whole) - 1):
        (tmp_path / "cut.safetensors").write_bytes(whole[:length])
        with pytest.raises(VoiceError, match=r"cut\.safetensors isn't a whole safetensors file"):
            open_engine(voice)


def test_a_missing_file_is_named(model: TinyModel, tmp_path: Path) -> None:
    voice = write_voice(tmp_path / "lost.yaml", model.kyutai_yaml, "lost.safetensors")
    with pytest.raises(VoiceError, match=r"The voice lost needs .*lost\.safetensors, which isn't here"):
        open_engine(voice)


def test_a_file_other_than_the_one_named_is_found_by_its_digest(model: TinyModel, tmp_path: Path) -> None:
    voice = write_voice(tmp_path / "mine.yaml", model.kyutai_yaml, model.kyutai_voice, sha256="0" * 64)
    with pytest.raises(VoiceError, match="its sha256 differs"):
        registry.check_model(voice)


@pytest.mark.parametrize("left", ["model", "codec"])
def test_weights_that_are_no_model_are_refused(model: TinyModel, tmp_path: Path, left: str) -> None:
    """Of a Kyutai checkpoint: one that lacks the tensors of a part."""
    state = load_file(model.folder / "model.safetensors")
    part = "flow_lm.flow_net." if left == "codec" else "mimi.decoder."
    save_file({n: t for n, t in state.items() if not n.startswith(part)}, tmp_path / "model.safetensors")
    config = model.kyutai_yaml.read_text().replace(
        str(model.folder / "model.safetensors"), str(tmp_path / "model.safetensors")
    )
    (tmp_path / "config.yaml").write_text(config)
    voice = write_voice(tmp_path / "mine.yaml", tmp_path / "config.yaml", model.kyutai_voice)
    with pytest.raises(VoiceError, match="aren't those of a Pocket TTS model: they have no"):
        open_engine(voice)
