"""What a model remembers of a voice: a prefix of keys and values, in any of the three forms it is kept in.

A cached state of Kyutai's (pairs interleaved) or of transformers' (halves), or the codec's latents of a recording,
from which the state is worked out. A state belongs to the weights that made it, and is held against them here: the
first position of a voice is a learnt vector and sees only itself, so its keys follow from the weights alone.
"""

from __future__ import annotations

import re
from pathlib import Path

import torch
from safetensors import safe_open
from torch import Tensor

from pipeline.engines.pocket.backbone import Backbone, Prefix
from pipeline.engines.pocket.layers import interleaved_to_halves
from pipeline.engines.pocket.model import read_tensors
from pipeline.engines.pocket.weights import Weights
from pipeline.errors import VoiceError

LATENTS = "audio_prompt_latents"
"""The name under which a file holds the latents of a recording, `[num_frames, latent_dim]`."""

_TOLERANCE = 0.05
"""Of a key's size. Files may hold bfloat16, which is right to 0.4%; other weights are wrong by 100%."""


def read_prefix(path: Path, voice: str, backbone: Backbone, weights: Weights, device: torch.device) -> Prefix:
    """The prefix that a voice's file holds. Raises `VoiceError` if it isn't one, or other weights made it."""
    tensors = read_tensors(path)
    geometry = backbone.geometry
    if not all(torch.isfinite(tensor).all() for name, tensor in tensors.items() if _is_sound(name)):
        raise _broken(voice, path)
    if LATENTS in tensors:
        return prefix_of_latents(tensors[LATENTS], voice, backbone, weights, device)
    try:
        layers = _layers(tensors)
    except (KeyError, IndexError, ValueError, RuntimeError):
        raise _broken(voice, path) from None
    if not layers:
        raise VoiceError(
            f"{path} holds no voice: a cached state of pocket-tts or transformers is expected, or {LATENTS}; "
            "`render-book voices add` makes a voice of a recording."
        )
    if any(part.ndim != 3 or not part.shape[1] or part.shape != layers[0][0].shape for pair in layers for part in pair):
        raise _broken(voice, path)
    expected = geometry.num_kv_heads, geometry.head_dim
    found = {(keys.shape[0], keys.shape[2]) for keys, _ in layers}
    if len(layers) != geometry.num_layers or found != {expected}:
        raise _of_other_weights(voice, path)
    prefix = Prefix.of([keys for keys, _ in layers], [values for _, values in layers], device)
    _check_first_position(prefix, voice, path, backbone, weights, device)
    return prefix


def made_by(path: Path) -> str:
    """The identity of the model that a voice of one's own was encoded with; empty where the file doesn't say."""
    with safe_open(path, "pt") as file:
        return str((file.metadata() or {}).get("model", ""))


def prefix_of_latents(
    latents: Tensor, voice: str, backbone: Backbone, weights: Weights, device: torch.device
) -> Prefix:
    """The prefix of a recording's latents `[num_frames, latent_dim]`, as the codec's encoder makes them."""
    projection = weights["voice.projection"].float()
    latents = latents.to(device, torch.float32).reshape(-1, latents.shape[-1])
    if latents.shape[-1] != projection.shape[1]:
        raise VoiceError(
            f"The voice {voice} was encoded for another model: its latents have {latents.shape[-1]} numbers, this "
            f"model takes {projection.shape[1]}. Add it again from the recording."
        )
    inputs = latents @ projection.T
    if (bos := weights.get("voice.bos")) is not None:
        inputs = torch.cat([bos.float()[None], inputs])
    _, made = backbone.prefill(inputs[None].to(device), [inputs.shape[0]], None, None, [])
    return Prefix.of([keys[0] for keys, _ in made], [values[0] for _, values in made], device)


def _layers(tensors: dict[str, Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Of a cached state in either format; none of what is neither."""
    if any(name.endswith("self_attn/cache") for name in tensors):
        return _kyutai_layers(tensors)
    return _transformers_layers(tensors)


def _is_sound(name: str) -> bool:
    return name == LATENTS or name.endswith((".keys", ".values"))


def _kyutai_layers(tensors: dict[str, Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Per layer keys and values `[kv_heads, num_positions, head_dim]`, keys regrouped from pairs to halves."""
    layers = []
    for number in range(sum(name.endswith("self_attn/cache") for name in tensors)):
        name = f"transformer.layers.{number}.self_attn"
        cache = tensors[f"{name}/cache"]  # [2, 1, positions, heads, head_dim]
        length = _length(tensors, name, cache)
        if not torch.isfinite(cache[:, :, :length]).all():  # what lies behind its length may be NaN
            raise ValueError(name)
        keys, values = cache[:, 0, :length].float().transpose(1, 2)
        turned = interleaved_to_halves(keys.permute(2, 0, 1), keys.shape[-1]).permute(1, 2, 0)
        layers.append((turned, values))
    return layers


def _length(tensors: dict[str, Tensor], name: str, cache: Tensor) -> int:
    if f"{name}/offset" in tensors:
        return int(tensors[f"{name}/offset"].flatten()[0])
    if f"{name}/current_end" in tensors:  # files before pocket-tts 2: its length is what it says
        return int(tensors[f"{name}/current_end"].shape[0])
    return int(cache.shape[2])


def _transformers_layers(tensors: dict[str, Tensor]) -> list[tuple[Tensor, Tensor]]:
    numbers = sorted(int(m[1]) for name in tensors if (m := re.fullmatch(r"layers\.(\d+)\.keys", name)))
    return [(tensors[f"layers.{n}.keys"][0].float(), tensors[f"layers.{n}.values"][0].float()) for n in numbers]


def _check_first_position(
    prefix: Prefix, voice: str, path: Path, backbone: Backbone, weights: Weights, device: torch.device
) -> None:
    if (bos := weights.get("voice.bos")) is None:
        return  # a model without that vector: nothing to hold it against
    _, made = backbone.prefill(bos.float()[None, None].to(device), [1], None, None, [])
    for number, (keys, values) in enumerate(made):
        for stored, expected in ((prefix.keys[number], keys[0]), (prefix.values[number], values[0])):
            if (stored[:, :1] - expected).abs().max() > _TOLERANCE * expected.abs().max():
                raise _of_other_weights(voice, path)


def _broken(voice: str, path: Path) -> VoiceError:
    return VoiceError(f"The voice {voice}: its file {path} is broken; fetch it or add it again.")


def _of_other_weights(voice: str, path: Path) -> VoiceError:
    return VoiceError(
        f"The voice {voice} was made by other weights than this model's ({path}): choose the model it belongs to, or "
        "add it again from its recording."
    )
