"""Checkpoints as transformers saves them: a folder for the model and one for the codec. Needs the extra `transformers`.

Their tokenizer, chat template and generation config are loaded, never assumed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.engines.pocket.geometry import CodecGeometry, Geometry, TransformerGeometry
from pipeline.engines.pocket.kyutai import seanet_decoder, seanet_encoder
from pipeline.errors import VoiceError

if TYPE_CHECKING:
    from torch import Tensor


def read_geometry(model: Path, codec: Path) -> Geometry:
    from transformers import PocketTTSAudioTokenizerConfig, PocketTTSConfig

    config: Any = PocketTTSConfig.from_pretrained(model, trust_remote_code=False)
    decoder: Any = PocketTTSAudioTokenizerConfig.from_pretrained(codec, trust_remote_code=False)
    sides = CodecGeometry(
        transformer=_transformer(decoder, decoder.sliding_window),
        latent_stride=decoder.latent_stride,
        ratios=tuple(decoder.upsampling_ratios),
        dilations=tuple(decoder.dilation_growth_rate**number for number in range(decoder.num_residual_layers)),
        sample_rate=decoder.sampling_rate,
    )
    return Geometry(_transformer(config, None), config.flow_head_config.flow_type, codec=sides, encoder=sides)


def rename(
    model: Mapping[str, Tensor], codec: Mapping[str, Tensor], geometry: Geometry, bos_id: int
) -> dict[str, Tensor]:
    """transformers' tensors under this project's names. `bos_id` is the token whose embedding precedes a voice."""
    out = {
        "text.embedding": model["model.embed_tokens.weight"],
        "voice.projection": model["model.audio_prompt_proj.weight"],
        "voice.bos": model["model.embed_tokens.weight"][bos_id],
        "latent.projection": model["model.audio_latent_proj.weight"],
        "latent.bos": model["model.bos_latent"],
        "codec.latent.mean": model["latent_mean"],
        "codec.latent.std": model["latent_std"],
        "codec.latent_projection.weight": codec["latent_proj.weight"][..., 0],
        "codec.upsample.weight": codec["decoder.upsample.conv.weight"],
    }
    prefixes = {
        "model.norm.": "backbone.norm.",
        "eos_head.": "heads.eos.",
        "flow_head.input_proj.": "heads.flow.input.",
        "flow_head.cond_proj.": "heads.flow.condition.",
        "flow_head.final_layer.proj.": "heads.flow.final.output.",
        "flow_head.final_layer.adaln_proj.": "heads.flow.final.modulation.",
        "flow_head.layers.": "heads.flow.blocks.",
        "flow_head.timestep_embeddings.": "heads.flow.times.",
    }
    for name, tensor in model.items():
        for source, target in prefixes.items():
            if name.startswith(source):
                inner = name.removeprefix(source).replace("adaln_proj", "modulation").replace("freqs", "frequencies")
                out[target + inner] = tensor
    for number in range(geometry.backbone.num_layers):
        out |= _layer(model, f"model.layers.{number}.", f"backbone.layers.{number}.")
    for number in range(geometry.codec.transformer.num_layers):
        at = f"decoder.decoder_transformer.layers.{number}."
        out |= _layer(codec, at, f"codec.transformer.layers.{number}.")
    out |= seanet_decoder(codec, "decoder.decoder_seanet.layers", "conv", "conv", geometry.codec)
    if "encoder.downsample.conv.weight" not in codec:  # saved without its encoder
        return out
    for number in range(geometry.encoder.transformer.num_layers):
        at = f"encoder.encoder_transformer.layers.{number}."
        out |= _layer(codec, at, f"encoder.transformer.layers.{number}.")
    out["encoder.downsample.weight"] = codec["encoder.downsample.conv.weight"]
    return out | seanet_encoder(codec, "encoder.encoder_seanet.layers", geometry.encoder)


def read_json(folder: Path, name: str) -> dict[str, Any]:
    """A file of a checkpoint's folder; empty where there is none."""
    path = folder / name
    if not path.is_file():
        return {}
    try:
        read: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise VoiceError(f"{path} isn't JSON ({error}): fetch the model again.") from None
    return read


def _layer(tensors: Mapping[str, Tensor], at: str, to: str) -> dict[str, Tensor]:
    import torch

    out = {
        f"{to}qkv.weight": torch.cat([tensors[f"{at}self_attn.{part}_proj.weight"] for part in "qkv"]),
        f"{to}out.weight": tensors[f"{at}self_attn.o_proj.weight"],
        f"{to}widen.weight": tensors[f"{at}mlp.fc1.weight"],
        f"{to}narrow.weight": tensors[f"{at}mlp.fc2.weight"],
    }
    for source, target in (("input_layernorm", "attention_norm"), ("post_attention_layernorm", "feedforward_norm")):
        out |= {f"{to}{target}.{part}": tensors[f"{at}{source}.{part}"] for part in ("weight", "bias")}
    if f"{at}self_attn_layer_scale.scale" in tensors:
        out[f"{to}attention_scale"] = tensors[f"{at}self_attn_layer_scale.scale"]
        out[f"{to}feedforward_scale"] = tensors[f"{at}mlp_layer_scale.scale"]
    return out


def _transformer(config: Any, context: int | None) -> TransformerGeometry:
    return TransformerGeometry(
        num_layers=config.num_hidden_layers,
        num_heads=config.num_attention_heads,
        num_kv_heads=config.num_key_value_heads,
        head_dim=config.head_dim,
        rope_period=float(config.rope_parameters["rope_theta"]),
        context=context,
    )
