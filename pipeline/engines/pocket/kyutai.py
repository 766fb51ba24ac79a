"""Checkpoints in Kyutai's own form: a YAML config, by a model's name or a path, and one safetensors file."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml
from pydantic import BaseModel, ValidationError

from pipeline.engines.pocket.geometry import CodecGeometry, Geometry, TransformerGeometry
from pipeline.errors import ConfigError, VoiceError

if TYPE_CHECKING:
    from torch import Tensor


class _Flow(BaseModel):
    type: Literal["lsd", "drifting", "pointwise"] = "lsd"


class _Attention(BaseModel):
    num_heads: int
    num_kv_heads: int | None = None
    max_period: float = 10_000.0
    context: int | None = None


class _LookupTable(BaseModel):
    tokenizer: Literal["tokenizers", "sentencepiece"]
    tokenizer_path: str = ""


class _FlowLM(BaseModel):
    flow: _Flow = _Flow()
    transformer: _Attention
    lookup_table: _LookupTable
    insert_bos_before_voice: bool = False


class SeanetConfig(BaseModel):
    ratios: tuple[int, ...]
    n_residual_layers: int
    dilation_base: int

    @property
    def dilations(self) -> tuple[int, ...]:
        return tuple(self.dilation_base**number for number in range(self.n_residual_layers))


class _Mimi(BaseModel):
    sample_rate: int
    frame_rate: float
    seanet: SeanetConfig
    transformer: _Attention
    decoder_seanet: SeanetConfig | None = None
    decoder_transformer: _Attention | None = None


class KyutaiConfig(BaseModel):
    """What a Kyutai config says that its tensors don't. Keys that only size a tensor are read off the tensor."""

    flow_lm: _FlowLM
    mimi: _Mimi
    weights_path: str
    weights_path_without_voice_cloning: str | None = None
    pad_with_spaces_for_short_inputs: bool = False
    remove_semicolons: bool = False
    append_terminal_punctuation: bool = True
    capitalize_first_letter: bool = True
    replace_characters: dict[str, str] = {}
    model_recommended_frames_after_eos: int | None = None
    default_temperature: float = 0.3
    default_eos_threshold: float = -4.0

    def geometry(self, tensors: Mapping[str, Tensor]) -> Geometry:
        mimi = self.mimi
        return Geometry(
            backbone=_transformer(self.flow_lm.transformer, tensors, "flow_lm.transformer.layers"),
            flow=self.flow_lm.flow.type,
            codec=self._codec(
                mimi.decoder_seanet or mimi.seanet, mimi.decoder_transformer or mimi.transformer, tensors, "decoder"
            ),
            encoder=self._codec(mimi.seanet, mimi.transformer, tensors, "encoder"),
        )

    def _codec(
        self, seanet: SeanetConfig, attention: _Attention, tensors: Mapping[str, Tensor], side: str
    ) -> CodecGeometry:
        return CodecGeometry(
            transformer=_transformer(attention, tensors, f"mimi.{side}_transformer.transformer.layers"),
            latent_stride=round(self.mimi.sample_rate / math.prod(seanet.ratios) / self.mimi.frame_rate),
            ratios=seanet.ratios,
            dilations=seanet.dilations,
            sample_rate=self.mimi.sample_rate,
        )


def read_config(model: str) -> KyutaiConfig:
    """The config of a model's name or of a YAML file. Raises `VoiceError`, `ConfigError`."""
    if not model.endswith((".yaml", ".yml")):
        return _known_config(model)
    path = Path(model)
    if not path.is_file():
        raise VoiceError(f"There is no model config {model}: check the path in the voice file or profile.")
    try:
        return KyutaiConfig.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} isn't YAML: {' '.join(str(error).split())}.") from None
    except ValidationError as error:
        faults = [f"{path}: {'.'.join(map(str, fault['loc']))}: {fault['msg'].lower()}" for fault in error.errors()]
        raise ConfigError("\n".join(faults)) from None


def model_names() -> list[str]:
    """The models whose weights Kyutai publishes."""
    return list(_known()["models"])


def voice_source(model: str, voice: str) -> str:
    """Where the hub keeps a voice's state for a model of Kyutai's."""
    return str(_known()["voice"].format(name=model, voice=voice))


def _known_config(name: str) -> KyutaiConfig:
    known = _known()
    entry = known["models"].get(name)
    if entry is None:
        close = difflib.get_close_matches(name, known["models"], n=1)
        hint = f"did you mean {close[0]}?" if close else f"choose from {', '.join(known['models'])}."
        raise VoiceError(
            f"There is no model {name!r} (nor a folder of that name): {hint} A config of your own is given by the path "
            "of its .yaml file."
        )
    tree = dict(known["families"][entry["family"]])
    gated, open_, tokenizer = entry["revisions"]
    table = {**tree["flow_lm"]["lookup_table"]}
    table["tokenizer_path"] = known["tokenizer"].format(path=entry["tokenizer"], revision=tokenizer)
    tree["flow_lm"] = {**tree["flow_lm"], "lookup_table": table}
    tree["weights_path"] = known["weights"].format(name=name, revision=gated)
    tree["weights_path_without_voice_cloning"] = known["open_weights"].format(name=name, revision=open_)
    tree["replace_characters"] = known["rewrites"][entry["rewrites"]]
    return KyutaiConfig.model_validate(tree | entry.get("own", {}))


@cache
def _known() -> dict[str, Any]:
    known: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("kyutai_models.yaml").read_text(encoding="utf-8"))
    return known


def rename(tensors: Mapping[str, Tensor], geometry: Geometry) -> dict[str, Tensor]:
    """Kyutai's tensors under this project's names, queries and keys reordered to rotate in halves."""

    flow_lm = {name.removeprefix("flow_lm."): t for name, t in tensors.items() if name.startswith("flow_lm.")}
    mimi = {name.removeprefix("mimi."): t for name, t in tensors.items() if name.startswith("mimi.")}
    embedding = flow_lm["conditioner.embed.weight"].float()
    if "conditioner.proj.weight" in flow_lm:
        embedding = embedding @ flow_lm["conditioner.proj.weight"].float().T
    out = {
        "text.embedding": embedding,
        "voice.projection": flow_lm["speaker_proj_weight"],
        "latent.projection": flow_lm["input_linear.weight"],
        "latent.bos": flow_lm["bos_emb"],
        "codec.latent.mean": flow_lm["emb_mean"],
        "codec.latent.std": flow_lm["emb_std"],
        "backbone.norm.weight": flow_lm["out_norm.weight"],
        "backbone.norm.bias": flow_lm["out_norm.bias"],
        "heads.eos.weight": flow_lm["out_eos.weight"],
        "heads.eos.bias": flow_lm["out_eos.bias"],
        "codec.latent_projection.weight": mimi["quantizer.output_proj.weight"][..., 0],
        "codec.upsample.weight": mimi["upsample.convtr.convtr.weight"],
    }
    if "bos_before_voice" in flow_lm:
        out["voice.bos"] = flow_lm["bos_before_voice"].flatten()
    if "z_proj.weight" in flow_lm:
        out["heads.condition.weight"] = flow_lm["z_proj.weight"]
    out |= _flow_head(flow_lm)
    transformers = [
        ("flow_lm.transformer.", "backbone.", geometry.backbone),
        ("mimi.decoder_transformer.transformer.", "codec.transformer.", geometry.codec.transformer),
        ("mimi.encoder_transformer.transformer.", "encoder.transformer.", geometry.encoder.transformer),
    ]
    for source, target, sizes in transformers:
        for number in range(sizes.num_layers):
            layer = {
                name.removeprefix(f"{source}layers.{number}."): t
                for name, t in tensors.items()
                if name.startswith(f"{source}layers.{number}.")
            }
            out |= {f"{target}layers.{number}.{name}": t for name, t in _layer(layer, sizes).items()}
    for side, target in (("decoder", "codec"), ("encoder", "encoder")):
        for source, name in (("input_proj", "enter"), ("output_projs.0", "leave")):
            if (projection := mimi.get(f"{side}_transformer.{source}.weight")) is not None:
                out[f"{target}.transformer.{name}.weight"] = projection
    out["encoder.downsample.weight"] = mimi["downsample.conv.conv.weight"]
    out |= seanet_decoder(mimi, "decoder.model", "conv", "convtr", geometry.codec)
    return out | seanet_encoder(mimi, "encoder.model", geometry.encoder)


def _flow_head(flow_lm: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The flow head's tensors: an MLP of blocks, and embeddings of the times of a step where it knows any."""
    whole = {
        "flow_net.input_proj": "input",
        "flow_net.cond_embed": "condition",
        "flow_net.final_layer.linear": "final.output",
        "flow_net.final_layer.adaLN_modulation.1": "final.modulation",
    }
    blocks = {"in_ln": "norm", "mlp.0": "fc1", "mlp.2": "fc2", "adaLN_modulation.1": "modulation"}
    times = {
        "freqs": "frequencies", "mlp.0.weight": "fc1.weight", "mlp.0.bias": "fc1.bias",
        "mlp.2.weight": "fc2.weight", "mlp.2.bias": "fc2.bias", "mlp.3.alpha": "norm.weight",
    }  # fmt: skip
    out = {f"{to}.{part}": flow_lm[f"{at}.{part}"] for at, to in whole.items() for part in ("weight", "bias")}
    for name, tensor in flow_lm.items():
        words = name.split(".")
        if name.startswith("flow_net.res_blocks."):
            out[f"blocks.{words[2]}.{blocks['.'.join(words[3:-1])]}.{words[-1]}"] = tensor
        elif name.startswith("flow_net.time_embed."):
            out[f"times.{words[2]}.{times['.'.join(words[3:])]}"] = tensor
    return {f"heads.flow.{name}": tensor for name, tensor in out.items()}


def _layer(layer: Mapping[str, Tensor], sizes: TransformerGeometry) -> dict[str, Tensor]:
    import torch

    from pipeline.engines.pocket.layers import interleaved_to_halves

    q, k, v = layer["self_attn.in_proj.weight"].split(
        [count * sizes.head_dim for count in (sizes.num_heads, sizes.num_kv_heads, sizes.num_kv_heads)]
    )
    q, k = interleaved_to_halves(q, sizes.head_dim), interleaved_to_halves(k, sizes.head_dim)
    out = {
        "qkv.weight": torch.cat([q, k, v]),
        "out.weight": layer["self_attn.out_proj.weight"],
        "widen.weight": layer["linear1.weight"],
        "narrow.weight": layer["linear2.weight"],
    }
    for source, target in (("norm1", "attention_norm"), ("norm2", "feedforward_norm")):
        out |= {f"{target}.{part}": layer[f"{source}.{part}"] for part in ("weight", "bias")}
    if "layer_scale_1.scale" in layer:
        out["attention_scale"] = layer["layer_scale_1.scale"]
        out["feedforward_scale"] = layer["layer_scale_2.scale"]
    return out


def seanet_decoder(
    tensors: Mapping[str, Tensor], at: str, conv: str, transposed: str, geometry: CodecGeometry
) -> dict[str, Tensor]:
    """The SEANet decoder's tensors, which both formats number alike: `at.<index>.<conv>.weight`."""
    num_blocks, num_stages = len(geometry.dilations), len(geometry.ratios)
    places = {"first": f"0.{conv}", "last": f"{2 + num_stages * (2 + num_blocks)}.{conv}"}
    for stage in range(num_stages):
        up = 2 + stage * (2 + num_blocks)  # an ELU lies before each
        places[f"stages.{stage}.up"] = f"{up}.{transposed}"
        places |= _blocks(stage, up + 1, num_blocks, conv)
    return _take(tensors, at, "codec", places)


def seanet_encoder(tensors: Mapping[str, Tensor], at: str, geometry: CodecGeometry) -> dict[str, Tensor]:
    """The SEANet encoder's tensors, of either format."""
    num_blocks, num_stages = len(geometry.dilations), len(geometry.ratios)
    places = {"first": "0.conv", "last": f"{2 + num_stages * (2 + num_blocks)}.conv"}
    for stage in range(num_stages):
        first = 1 + stage * (2 + num_blocks)
        places |= _blocks(stage, first, num_blocks, "conv")
        places[f"stages.{stage}.down"] = f"{first + num_blocks + 1}.conv"
    return _take(tensors, at, "encoder", places)


def _blocks(stage: int, first: int, num_blocks: int, conv: str) -> dict[str, str]:
    places = {}
    for block in range(num_blocks):
        places[f"stages.{stage}.blocks.{block}.wide"] = f"{first + block}.block.1.{conv}"
        places[f"stages.{stage}.blocks.{block}.point"] = f"{first + block}.block.3.{conv}"
    return places


def _take(tensors: Mapping[str, Tensor], at: str, to: str, places: Mapping[str, str]) -> dict[str, Tensor]:
    return {
        f"{to}.{target}.{part}": tensors[f"{at}.{place}.{part}"]
        for target, place in places.items()
        for part in ("weight", "bias")
    }


def _transformer(attention: _Attention, tensors: Mapping[str, Tensor], at: str) -> TransformerGeometry:
    num_layers = len({name.split(".")[at.count(".") + 1] for name in tensors if name.startswith(f"{at}.")})
    width = tensors[f"{at}.0.self_attn.out_proj.weight"].shape[1]
    return TransformerGeometry(
        num_layers=num_layers,
        num_heads=attention.num_heads,
        num_kv_heads=attention.num_kv_heads or attention.num_heads,
        head_dim=width // attention.num_heads,
        rope_period=attention.max_period,
        context=attention.context,
    )
