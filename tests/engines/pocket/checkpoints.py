"""Tiny Pocket TTS checkpoints of the real classes: random weights, both published formats, made offline.

The two formats of a model hold the same weights, so the two libraries must say the same thing. Nothing here uses the
project's own code: what it converts, this converts again, so that a fault shows.

`python -m tests.engines.pocket.checkpoints` makes one model of each kind and checks the libraries against each other.
"""

from __future__ import annotations

import io
import logging
import re
import tempfile
import time
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import sentencepiece
import tokenizers
import torch
import yaml
from pocket_tts import TTSModel, export_model_state
from pocket_tts.data.audio_utils import end_on_pause
from pocket_tts.utils.config import Config
from safetensors.torch import load_file, save_file

State = dict[str, torch.Tensor]
Noise = Callable[[int], torch.Tensor]
"""The noise of a frame, `[latent_dim]`, scaled already."""

SAMPLE_RATE = 24_000
FRAME = 1_920
"""Samples in a frame."""
VOICE_SECONDS = 0.6
"""With the pause at its end 8.5 frames: the codec has to fill the ninth up."""

MARGIN = 1e-3
"""How far the end-of-speech logits of the sample texts stay from the threshold."""

TEXTS = (
    "The lamp went out.",
    "Come in, Tom!",
    "Nobody had told her about the bridge.",
    "Was it the wind, or was there somebody in the garden?",
    "He counted the boats twice and said nothing.",
    "It rained all night. In the morning the road was gone.",
    "They kept the letters in a tin box under the stairs.",
    "Well, then, we shall wait for the ferry.",
)
"""As a preparation of text leaves them. With zero noise each of them ends well clear of the threshold."""

_CORPUS = (
    *TEXTS,
    "The old man went down to the harbour and looked at the water for a long time.",
    "She had a lamp, a rope, and three days of bread; that was all.",
    "When the bell rang, the children ran out of the house and into the rain.",
    "What do you want with the key? It opens nothing now.",
    "Nobody answered the door... so they waited under the trees until the light was gone.",
    "There were seven boats in the morning, and by the evening there was one.",
    "He said that the road over the hill was better, but he did not say why.",
    "I'll tell you what the captain told me: never trust a quiet sea!",
    "They found the box, and in the box another box, and then... nothing.",
    "The wind had turned; it was cold, and the town was a long way off.",
    "You can't keep a thing like that in the house, her mother said.",
    "Somebody had written a name on the wall, and somebody else had rubbed it out.",
    "In the end the two of them walked home along the shore without a word.",
    "It wasn't the first time that the lighthouse had gone dark, and it would not be the last.",
    "Are you sure that this is the place? I thought there would be more of it.",
    "We had better go back before the tide comes in, he said, and they went.",
)

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_REQUIRED = _LETTERS + _LETTERS.upper() + "0123456789.,;:!?'\"-"
"""What has a token of its own. Brackets have none, as in the released models."""

_PLACEHOLDERS = {
    "audio_prompt_token": "<|audio_prompt|>",
    "audio_latent_token": "<|audio_latent|>",
    "audio_prompt_bos_token": "<|audio_prompt_bos|>",
    "audio_bos_token": "<|audio_bos|>",
}
"""In the order of their ids, which follow the vocabulary's."""

_CHAT_TEMPLATE = """\
{%- for message in messages -%}
{%- for part in message['content'] if part['type'] == 'audio' -%}
<|audio_prompt_bos|><|audio_prompt|>
{%- endfor -%}
{%- for part in message['content'] if part['type'] == 'text' -%}
{{ part['text'] | trim }}
{%- endfor -%}
{%- endfor -%}
<|audio_bos|>"""


@dataclass(frozen=True)
class TinyModel:
    """The files of one model. What only the Transformers format has is None where that format can't hold the model."""

    folder: Path
    kyutai_yaml: Path
    transformers_dir: Path | None
    codec_dir: Path | None
    kyutai_voice: Path
    transformers_voice: Path | None
    voice_latents: Path
    voice_wav: Path


@dataclass(frozen=True)
class Spoken:
    """What a library made of one text."""

    latents: torch.Tensor
    eos_inputs: torch.Tensor
    eos_logits: torch.Tensor
    waveform: np.ndarray


@torch.random.fork_rng(devices=[])
def make_tiny(folder: Path, *, flow: str = "lsd", seed: int = 0, small: bool = False, layers: int = 2) -> TinyModel:
    """Write a model into `folder`; `small` gives it the geometry that only Kyutai's own package can load."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    both = not small and flow in ("lsd", "drifting")
    model = TinyModel(
        folder=folder,
        kyutai_yaml=folder / "kyutai.yaml",
        transformers_dir=folder / "transformers" if both else None,
        codec_dir=folder / "codec" if both else None,
        kyutai_voice=folder / "voice-kyutai.safetensors",
        transformers_voice=folder / "voice-transformers.safetensors" if both else None,
        voice_latents=folder / "voice-latents.safetensors",
        voice_wav=folder / "voice.wav",
    )
    tokenizer, vocabulary = _write_tokenizer(folder, small=small)
    config = _config(flow, small, layers, vocabulary, tokenizer)
    wav = _write_wav(model.voice_wav, seed)

    tts = _random_model(config, seed, wav)
    voice = tts.get_state_for_audio_prompt(wav)
    _set_ends(tts, _calmed(tts, voice), seed)
    _set_loudness(tts, voice)
    save_file(tts.state_dict(), config["weights_path"])
    model.kyutai_yaml.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    export_model_state(voice, model.kyutai_voice)
    with torch.no_grad():
        latents = tts.mimi.encode_to_latent(end_on_pause(wav, SAMPLE_RATE)[None])[0]
    save_file({"audio_prompt_latents": latents.contiguous()}, model.voice_latents)

    if both:
        _write_transformers(model, config, tts.state_dict(), latents)
    return model


@torch.random.fork_rng(devices=[])
def reference_kyutai(model: TinyModel, text: str, *, noise: Noise | None = None) -> tuple[torch.Tensor, np.ndarray]:
    """Kyutai's package on one text: normalised latents `[frames, latent_dim]` and waveform. No noise unless given."""
    tts = TTSModel.load_model(config=model.kyutai_yaml, temp=0.0)
    spoken = _speak(tts, tts.get_state_for_audio_prompt(model.kyutai_voice), text, noise)
    return spoken.latents, spoken.waveform


@torch.random.fork_rng(devices=[])
def reference_transformers(model: TinyModel, text: str, *, noise: Noise | None = None) -> torch.Tensor:
    """Transformers on one text, the voice from its cache: latents `[frames, latent_dim]` as `generate` returns them."""
    from transformers import DynamicCache, PocketTTSForConditionalGeneration, PocketTTSProcessor

    assert model.transformers_dir is not None
    assert model.transformers_voice is not None
    network = PocketTTSForConditionalGeneration.from_pretrained(model.transformers_dir)
    processor = PocketTTSProcessor.from_pretrained(model.transformers_dir)
    chat = [{"role": "user", "content": [{"type": "text", "text": text}]}]
    inputs = processor(text=processor.apply_chat_template(chat), return_tensors="pt")

    saved = load_file(model.transformers_voice)
    cache = DynamicCache(config=network.config)
    for layer in range(network.config.num_hidden_layers):
        cache.update(saved[f"layers.{layer}.keys"].clone(), saved[f"layers.{layer}.values"].clone(), layer)

    sample, frame = network.sample_latent, 0

    def with_noise(condition: torch.Tensor, drawn: torch.Tensor, steps: int) -> torch.Tensor:
        nonlocal frame
        if noise is not None:
            drawn = noise(frame)[None].to(drawn)
        frame += 1
        return sample(condition, drawn, steps)

    with mock.patch.object(network, "sample_latent", with_noise):
        out = network.generate(**inputs, cache=cache, do_sample=False, return_dict_in_generate=True)
    return out.audio_latents[0, : int(out.audio_latents_mask.sum())]


# Speaking with Kyutai's package


def _speak(tts: TTSModel, voice: dict[str, State], text: str, noise: Noise | None = None) -> Spoken:
    """One text as one chunk. The latents are caught on their way, since the package throws them away."""
    latents: list[torch.Tensor] = []
    inputs: list[torch.Tensor] = []
    logits: list[torch.Tensor] = []
    chunks = 0
    step = tts._run_flow_lm_and_increment_step

    def watched(**given: Any) -> tuple[torch.Tensor, torch.Tensor]:
        nonlocal chunks
        if given.get("backbone_input_latents") is None:
            # The text. Its sample is thrown away.
            chunks += 1
            return step(**given)
        with _noise(None if noise is None else noise(len(latents))):
            latent, ended = step(**given)
        latents.append(latent[0, 0])
        return latent, ended

    def heard(_module: object, given: tuple[torch.Tensor], output: torch.Tensor) -> None:
        inputs.append(given[0][0])
        logits.append(output[0, 0])

    hook = tts.flow_lm.out_eos.register_forward_hook(heard)
    try:
        # A frame at a time, so that the last bits of the sound don't hang on how fast the threads are.
        with (
            mock.patch.object(tts, "_run_flow_lm_and_increment_step", watched),
            mock.patch.object(tts, "max_decoder_frames_per_call", 1),
        ):
            waveform = tts.generate_audio(voice, text, max_tokens=10_000).numpy()
    finally:
        hook.remove()
    assert chunks == 1, f"spoken as {chunks} chunks: {text!r}"
    frames = len(waveform) // FRAME
    # The head sees the text first, and one frame more than the package keeps.
    return Spoken(
        latents=torch.stack(latents[:frames]),
        eos_inputs=torch.stack(inputs[1 : frames + 1]),
        eos_logits=torch.stack(logits[1 : frames + 1]),
        waveform=waveform,
    )


@contextmanager
def _noise(given: torch.Tensor | None) -> Iterator[None]:
    """Have the package draw `given`."""
    if given is None:
        yield
        return

    def fill(tensor: torch.Tensor, **_: float) -> torch.Tensor:
        return tensor.copy_(given.expand_as(tensor))

    with mock.patch.object(torch.nn.init, "normal_", fill):
        yield


# Kyutai's format


def _config(flow: str, small: bool, layers: int, vocabulary: int, tokenizer: Path) -> dict[str, Any]:
    """As the YAML files in Kyutai's package."""
    width = 64
    transformer: dict[str, Any] = {
        "d_model": width, "hidden_scale": 2, "max_period": 10_000, "num_heads": 4, "num_layers": layers
    }  # fmt: skip
    table: dict[str, Any] = {
        "dim": width, "n_bins": vocabulary, "tokenizer": "tokenizers", "tokenizer_path": str(tokenizer)
    }  # fmt: skip
    flow_lm: dict[str, Any] = {
        "insert_bos_before_voice": True,
        "dtype": "float32",
        "flow": {"depth": 2, "dim": 32, "type": flow},
        "transformer": transformer,
        "lookup_table": table,
    }
    encoder = 48 if small else 32
    mimi: dict[str, Any] = {
        "dtype": "float32",
        "sample_rate": SAMPLE_RATE,
        "inner_dim": 32,
        "outer_dim": 32,
        "channels": 1,
        "frame_rate": SAMPLE_RATE / FRAME,
        "seanet": _seanet(encoder, filters=4, kernel=7),
        "transformer": _codec_transformer(encoder, heads=4, layers=2, context=20),
        "quantizer": {"dimension": 32, "output_dimension": 32},
    }
    config: dict[str, Any] = {
        "weights_path": str(tokenizer.parent / "model.safetensors"),
        "default_temperature": 0.3,
        "replace_characters": {"’": "'", "‘": "'"},
        "flow_lm": flow_lm,
        "mimi": mimi,
    }
    if small:
        transformer |= {"hidden_scale": 1, "num_heads": 3, "num_kv_heads": 1, "attn_dim": 48, "dim_feedforward": 96}
        table |= {"tokenizer": "sentencepiece", "rank": 8}
        flow_lm["z_dim"] = 16
        mimi["decoder_seanet"] = _seanet(32, filters=3, kernel=3)
        mimi["decoder_transformer"] = _codec_transformer(32, heads=2, layers=3, context=12)
        config["replace_characters"] |= {"–": ",", "—": ","}
        config["default_eos_threshold"] = -1.0
    return config


def _seanet(dimension: int, *, filters: int, kernel: int) -> dict[str, Any]:
    return {
        "dimension": dimension,
        "channels": 1,
        "n_filters": filters,
        "n_residual_layers": 1,
        "ratios": [6, 5, 4],
        "kernel_size": kernel,
        "residual_kernel_size": 3,
        "last_kernel_size": 3,
        "dilation_base": 2,
        "pad_mode": "constant",
        "compress": 2,
    }


def _codec_transformer(width: int, *, heads: int, layers: int, context: int) -> dict[str, Any]:
    """A context of little more than a frame's 16 positions, so that any speech outlives it."""
    return {
        "d_model": width,
        "num_heads": heads,
        "num_layers": layers,
        "layer_scale": 0.01,
        "context": context,
        "dim_feedforward": 2 * width,
        "input_dimension": width,
        "output_dimensions": [width],
    }


def _write_tokenizer(folder: Path, *, small: bool) -> tuple[Path, int]:
    """A SentencePiece model, or the same vocabulary as a `tokenizer.json`, which is how Kyutai made theirs."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_CORPUS),
        model_writer=written,
        model_type="unigram",
        vocab_size=120 if small else 300,
        hard_vocab_limit=False,
        required_chars=_REQUIRED,
        user_defined_symbols="...",
        pad_id=3,
        num_threads=1,
        minloglevel=2,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
    if small:
        path = folder / "tokenizer.model"
        path.write_bytes(written.getvalue())
        return path, pieces.vocab_size()

    scores = [(pieces.id_to_piece(i), pieces.get_score(i)) for i in range(pieces.vocab_size())]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(scores, unk_id=0, byte_fallback=False))
    tokenizer.normalizer = tokenizers.normalizers.Sequence(
        [tokenizers.normalizers.NFKC(), tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = tokenizers.decoders.Metaspace(prepend_scheme="always")
    path = folder / "tokenizer.json"
    tokenizer.save(str(path))
    return path, tokenizer.get_vocab_size()


def _write_wav(path: Path, seed: int) -> torch.Tensor:
    """Three tones under a slow random loudness, `[1, samples]` as they are read back from 16 bits."""
    draw = np.random.default_rng(seed)
    count = int(VOICE_SECONDS * SAMPLE_RATE)
    seconds = np.arange(count) / SAMPLE_RATE
    knots = draw.uniform(0.2, 1.0, (3, 12))
    loudness = np.stack([np.interp(seconds, np.linspace(0, VOICE_SECONDS, 12), line) for line in knots])
    tones = np.sin(2 * np.pi * np.outer([140, 610, 2300], seconds))
    signal = 0.25 * (loudness * tones).sum(axis=0) + 0.01 * draw.standard_normal(count)
    samples = (np.clip(signal, -1, 1) * 32767).astype("<i2")
    with wave.open(str(path), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        out.writeframes(samples.tobytes())
    return torch.from_numpy(samples.astype(np.float32) / 32768.0)[None]


def _random_model(config: dict[str, Any], seed: int, wav: torch.Tensor) -> TTSModel:
    """Weights at which latents vary without chaos: a difference in a last bit must not grow into other speech.

    Most of a latent is the constant of the head's bias, so little of what varies is fed back. What makes it vary is
    where the text and the voice lie from the frame, which large queries and keys bring out.
    """
    torch.manual_seed(seed)
    with _quiet(), torch.no_grad():
        tts = TTSModel._from_pydantic_config_with_weights(
            Config(**{**config, "weights_path": None}),
            temp=0.0,
            sampler_decode_steps=1,
            noise_clamp=None,
            eos_threshold=config.get("default_eos_threshold", -4.0),
        )
        for name, weight in sorted(tts.named_parameters()):
            weight.copy_(_drawn(name, weight.shape))
        lm, mimi = tts.flow_lm, tts.mimi
        for layer in lm.transformer.layers:
            attention = layer.self_attn
            values = attention.num_kv_heads * attention.dim_per_head
            attention.in_proj.weight[:-values] *= 2
            attention.out_proj.weight *= 0.7 / len(lm.transformer.layers) ** 0.5
            layer.linear2.weight *= 0.7 / len(lm.transformer.layers) ** 0.5
        head = lm.flow_net
        head.input_proj.bias.normal_()
        for block in (*head.res_blocks, head.final_layer):
            block.adaLN_modulation[1].weight *= 0.5
        head.final_layer.linear.weight *= 0.12
        head.final_layer.linear.bias.normal_()
        lm.emb_std.uniform_(0.5, 1.5)
        lm.emb_mean.normal_(std=0.1)
        mimi.downsample.conv.conv.weight /= mimi.encode_to_latent(end_on_pause(wav, SAMPLE_RATE)[None]).std()
    return tts


def _drawn(name: str, size: torch.Size) -> torch.Tensor:
    if name.endswith(".scale"):
        return torch.empty(size).uniform_(0.3, 1.0)
    if re.search(r"(norm\d?|in_ln)\.weight$|\.alpha$", name):
        return 1 + 0.1 * torch.randn(size)
    if name.endswith(".bias"):
        return 0.1 * torch.randn(size)
    if name.endswith(("bos_emb", "bos_before_voice", "embed.weight")):
        return torch.randn(size)
    # What is summed for one output. Of a transposed convolution, whose kernel is two strides, that is two taps of each
    # input channel; the one that upsamples has a group for each channel.
    summed = size[1:].numel()
    if "convtr" in name:
        summed = 2 if "upsample" in name else 2 * size[0]
    return torch.randn(size) / summed**0.5


def _calmed(tts: TTSModel, voice: dict[str, State]) -> list[Spoken]:
    """Shrink what varies in the latents until a small push at the first frame dies away; then what the texts become."""
    varying = tts.flow_lm.flow_net.final_layer.linear.weight
    push = 1e-3

    def pushed(frame: int) -> torch.Tensor:
        return torch.full((tts.flow_lm.ldim,), 0.0 if frame else push)

    def calm(text: str) -> bool:
        one, other = _to_the_budget(tts, voice, text), _to_the_budget(tts, voice, text, pushed)
        return _apart(one.latents, other.latents) < 4 * push

    for _ in range(10):
        if all(calm(text) for text in TEXTS[1::2]):
            return [_to_the_budget(tts, voice, text) for text in TEXTS]
        with torch.no_grad():
            varying *= 0.7
    raise AssertionError("with this seed the latents stay chaotic")


def _to_the_budget(tts: TTSModel, voice: dict[str, State], text: str, noise: Noise | None = None) -> Spoken:
    """A text without an end and without sound."""
    budget = tts._estimate_max_gen_len

    def silent(latents: torch.Tensor, _state: object) -> torch.Tensor:
        return latents.new_zeros(1, 1, latents.shape[1] * FRAME)

    with (
        _quiet(),
        mock.patch.object(tts, "eos_threshold", float("inf")),
        mock.patch.object(tts, "_estimate_max_gen_len", lambda tokens: min(64, budget(tokens))),
        mock.patch.object(tts.mimi, "decode_from_latent", silent),
    ):
        return _speak(tts, voice, text, noise)


def _set_ends(tts: TTSModel, spoken: list[Spoken], seed: int) -> None:
    """Turn the end-of-speech head so that the sample texts end, and apart. That changes no latent.

    Of the heads that serve as well, it takes the one furthest from any logit, since the libraries differ in the last
    bits.
    """
    first = TTSModel._MIN_FRAMES_BEFORE_EOS
    generator = torch.Generator().manual_seed(seed)
    head = tts.flow_lm.out_eos
    best, worth = (head.weight[0], torch.zeros(())), (0, 0, 0.0)
    for _ in range(300):
        weight = 3 * torch.randn(head.in_features, generator=generator) / head.in_features**0.5
        logits = [one.eos_inputs @ weight for one in spoken]
        levels = torch.cat(logits).sort().values
        gaps, middles = levels.diff(), (levels[1:] + levels[:-1]) / 2
        crossed = [row[first:, None] > middles for row in logits]
        # Frames up to the end and with it. The tail is 2 or 4 more.
        ends = torch.stack([torch.where(row.any(0), row.int().argmax(0) + first + 1, 0) for row in crossed])
        for level, counts in enumerate(ends.T.tolist()):
            kept = [count for count in counts if 8 <= count <= 56]
            found = (len(kept), len(set(kept)), float(gaps[level]))
            if found > worth and found[2] > 2.5 * MARGIN:
                best, worth = (weight, middles[level]), found
    assert worth[0] == len(TEXTS), f"with this seed only {worth[0]} texts end"
    with torch.no_grad():
        head.weight.copy_(best[0])
        head.bias.fill_(tts.eos_threshold - best[1])


def _set_loudness(tts: TTSModel, voice: dict[str, State]) -> None:
    """About half of full scale at the loudest, as a recording might have it."""
    loudest = float(np.abs(_speak(tts, voice, TEXTS[-1]).waveform).max())
    last = tts.mimi.decoder.model[-1].conv
    with torch.no_grad():
        last.weight *= 0.5 / loudest
        last.bias *= 0.5 / loudest


@contextmanager
def _quiet() -> Iterator[None]:
    """Without its warnings of what is meant here: no weights yet, and speech that doesn't end."""
    with mock.patch.object(logging.getLogger("pocket_tts.models.tts_model"), "disabled", True):
        yield


# Transformers' format


def _write_transformers(model: TinyModel, config: dict[str, Any], state: State, latents: torch.Tensor) -> None:
    """The same weights, the processor, and the voice as Transformers itself computes it."""
    from transformers import (
        DynamicCache,
        GenerationConfig,
        PocketTTSAudioTokenizerConfig,
        PocketTTSAudioTokenizerModel,
        PocketTTSConfig,
        PocketTTSFeatureExtractor,
        PocketTTSFlowHeadConfig,
        PocketTTSForConditionalGeneration,
        PocketTTSProcessor,
        PreTrainedTokenizerFast,
    )

    assert model.transformers_dir is not None
    assert model.codec_dir is not None
    assert model.transformers_voice is not None
    flow_lm, mimi = config["flow_lm"], config["mimi"]
    transformer, codec_transformer, seanet = flow_lm["transformer"], mimi["transformer"], mimi["seanet"]
    vocabulary = flow_lm["lookup_table"]["n_bins"]
    ids = {f"{name}_id": vocabulary + i for i, name in enumerate(_PLACEHOLDERS)}

    network = PocketTTSForConditionalGeneration(
        PocketTTSConfig(
            flow_head_config=PocketTTSFlowHeadConfig(
                hidden_size=flow_lm["flow"]["dim"],
                num_hidden_layers=flow_lm["flow"]["depth"],
                latent_dim=mimi["inner_dim"],
                condition_dim=transformer["d_model"],
                flow_type=flow_lm["flow"]["type"],
            ),
            vocab_size=vocabulary + len(_PLACEHOLDERS),
            hidden_size=transformer["d_model"],
            num_hidden_layers=transformer["num_layers"],
            num_attention_heads=transformer["num_heads"],
            intermediate_size=transformer["d_model"] * transformer["hidden_scale"],
            latent_dim=mimi["inner_dim"],
            pad_token_id=3,
            frame_rate=mimi["frame_rate"],
            **ids,
        )
    )
    codec = PocketTTSAudioTokenizerModel(
        PocketTTSAudioTokenizerConfig(
            hidden_size=seanet["dimension"],
            num_filters=seanet["n_filters"],
            upsampling_ratios=seanet["ratios"],
            kernel_size=seanet["kernel_size"],
            last_kernel_size=seanet["last_kernel_size"],
            residual_kernel_size=seanet["residual_kernel_size"],
            upsample_groups=seanet["dimension"],
            num_hidden_layers=codec_transformer["num_layers"],
            num_attention_heads=codec_transformer["num_heads"],
            num_key_value_heads=codec_transformer["num_heads"],
            intermediate_size=codec_transformer["dim_feedforward"],
            sliding_window=codec_transformer["context"],
            latent_dim=mimi["inner_dim"],
        )
    )
    network.eval()
    codec.eval()
    network_state = _network_state(state, transformer["num_heads"])
    loaded = network.load_state_dict(network_state, strict=False)
    # What only training needs is absent from released checkpoints too.
    odd = [name for name in loaded.missing_keys if not name.startswith(("loss_weighting.", "latent_stats_"))]
    assert not odd, odd
    assert not loaded.unexpected_keys, loaded.unexpected_keys
    codec.load_state_dict(_codec_state(state, codec_transformer["num_heads"]), strict=True)

    network.generation_config = GenerationConfig(
        do_sample=True,
        temperature=config["default_temperature"],
        num_flow_steps=1,
        eos_threshold=-4.0,
        min_frames_before_eos=6,
        return_dict_in_generate=True,
        pad_token_id=3,
    )
    network.save_pretrained(model.transformers_dir, state_dict=network_state)
    codec.save_pretrained(model.codec_dir)

    tokenizer = tokenizers.Tokenizer.from_file(flow_lm["lookup_table"]["tokenizer_path"])
    tokenizer.add_special_tokens(list(_PLACEHOLDERS.values()))
    processor = PocketTTSProcessor(
        PocketTTSFeatureExtractor(),
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            unk_token="<unk>",
            pad_token="<pad>",
            padding_side="left",
            extra_special_tokens=dict(_PLACEHOLDERS),
        ),
        audio_tokenizer=PocketTTSAudioTokenizerModel.from_pretrained(model.codec_dir),
        chat_template=_CHAT_TEMPLATE,
    )
    given = {name: processor.tokenizer.convert_tokens_to_ids(token) for name, token in _PLACEHOLDERS.items()}
    assert {f"{name}_id": number for name, number in given.items()} == ids
    processor.save_pretrained(model.transformers_dir)

    prompt = [ids["audio_prompt_bos_token_id"]] + [ids["audio_prompt_token_id"]] * len(latents)
    cache = DynamicCache(config=network.config)
    with torch.no_grad():
        network.model(input_ids=torch.tensor([prompt]), audio_prompt_latents=latents[None], cache=cache, use_cache=True)
    voice = {}
    for number, layer in enumerate(cache.layers):
        voice[f"layers.{number}.keys"] = layer.keys.contiguous()
        voice[f"layers.{number}.values"] = layer.values.contiguous()
    save_file(voice, model.transformers_voice)


def _network_state(state: State, heads: int) -> State:
    """Kyutai's `flow_lm.*` under Transformers' names."""
    names = (
        (r"transformer\.layers\.", "model.layers."),
        (r"flow_net\.", "flow_head."),
        (r"time_embed\.(\d+)\.mlp\.0\.", r"timestep_embeddings.\1.fc1."),
        (r"time_embed\.(\d+)\.mlp\.2\.", r"timestep_embeddings.\1.fc2."),
        (r"time_embed\.(\d+)\.mlp\.3\.alpha", r"timestep_embeddings.\1.norm.weight"),
        (r"time_embed\.(\d+)\.freqs", r"timestep_embeddings.\1.freqs"),
        (r"res_blocks\.(\d+)\.in_ln\.", r"layers.\1.norm."),
        (r"res_blocks\.(\d+)\.mlp\.0\.", r"layers.\1.fc1."),
        (r"res_blocks\.(\d+)\.mlp\.2\.", r"layers.\1.fc2."),
        (r"res_blocks\.", "layers."),
        (r"adaLN_modulation\.1\.", "adaln_proj."),
        (r"final_layer\.linear\.", "final_layer.proj."),
        (r"cond_embed\.", "cond_proj."),
        (r"^out_eos\.", "eos_head."),
        (r"^out_norm\.", "model.norm."),
        (r"^input_linear\.", "model.audio_latent_proj."),
        (r"^speaker_proj_weight$", "model.audio_prompt_proj.weight"),
        (r"^bos_emb$", "model.bos_latent"),
        (r"^emb_", "latent_"),
    )
    lm = {name.removeprefix("flow_lm."): tensor for name, tensor in state.items() if name.startswith("flow_lm.")}
    text, voice_bos = lm.pop("conditioner.embed.weight")[:-1], lm.pop("bos_before_voice")[0]
    converted = _renamed(lm, names, heads)
    # What stands for latents is replaced by them, but must differ: Transformers tells positions apart by it, given
    # embeddings in place of ids.
    rows = {name: torch.full((1, text.shape[1]), 100.0 + i) for i, name in enumerate(_PLACEHOLDERS)}
    rows["audio_prompt_bos_token"] = voice_bos
    converted["model.embed_tokens.weight"] = torch.cat([text, *rows.values()])
    return converted


def _codec_state(state: State, heads: int) -> State:
    """Kyutai's `mimi.*` under Transformers' names."""
    names = (
        (r"^(en|de)coder\.model\.", r"\1coder.\1coder_seanet.layers."),
        (r"^(en|de)coder_transformer\.transformer\.", r"\1coder.\1coder_transformer."),
        (r"^downsample\.conv\.conv\.", "encoder.downsample.conv."),
        (r"^upsample\.convtr\.convtr\.", "decoder.upsample.conv."),
        (r"\.convtr\.", ".conv."),
        (r"^quantizer\.output_proj\.", "latent_proj."),
    )
    mimi = {name.removeprefix("mimi."): tensor for name, tensor in state.items() if name.startswith("mimi.")}
    return _renamed(mimi, names, heads)


def _renamed(state: State, names: tuple[tuple[str, str], ...], heads: int) -> State:
    """With the names of both kinds of transformer layers, and each layer's projections apart."""
    layer_names = (
        (r"\.norm1\.", ".input_layernorm."),
        (r"\.norm2\.", ".post_attention_layernorm."),
        (r"\.linear1\.", ".mlp.fc1."),
        (r"\.linear2\.", ".mlp.fc2."),
        (r"\.out_proj\.", ".o_proj."),
        (r"\.layer_scale_1\.", ".self_attn_layer_scale."),
        (r"\.layer_scale_2\.", ".mlp_layer_scale."),
    )
    converted: State = {}
    for name, tensor in state.items():
        for old, new in (*names, *layer_names):
            name = re.sub(old, new, name)
        if not name.endswith(".in_proj.weight"):
            converted[name] = tensor.clone()
            continue
        queries, keys, values = tensor.chunk(3)
        base = name.removesuffix("in_proj.weight")
        converted[f"{base}q_proj.weight"] = _halves(queries, heads)
        converted[f"{base}k_proj.weight"] = _halves(keys, heads)
        converted[f"{base}v_proj.weight"] = values.clone()
    return converted


def _halves(weight: torch.Tensor, heads: int) -> torch.Tensor:
    """Kyutai rotates neighbours, Transformers a row of the first half with one of the second."""
    pairs = weight.reshape(heads, -1, 2, weight.shape[-1])
    return pairs.transpose(1, 2).reshape(weight.shape).contiguous()


# The self-check


def _check(folder: Path, **kind: Any) -> None:
    """Print how the libraries agree on one kind of model, and fail where they don't."""
    started = time.monotonic()
    model = make_tiny(folder, **kind)
    print(f"{kind}: made in {time.monotonic() - started:.1f} s")
    tts = TTSModel.load_model(config=model.kyutai_yaml, temp=0.0)
    voice = tts.get_state_for_audio_prompt(model.kyutai_voice)
    draw = torch.Generator().manual_seed(1)
    drawn = 0.3**0.5 * torch.randn(500, 32, generator=draw)
    for text in TEXTS:
        spoken = _speak(tts, voice, text)
        margin = float((spoken.eos_logits - tts.eos_threshold).abs().min())
        assert margin > MARGIN, (text, margin)
        noisy, _ = reference_kyutai(model, text, noise=lambda frame: drawn[frame])
        says = f"  {len(spoken.latents):3} frames (noisy {len(noisy)}), margin {margin:.4f}"
        if model.transformers_dir is not None:
            says += _compared(model, tts, text, spoken, noisy, drawn)
        print(says, repr(text))


def _compared(
    model: TinyModel, tts: TTSModel, text: str, spoken: Spoken, noisy: torch.Tensor, drawn: torch.Tensor
) -> str:
    from transformers import PocketTTSProcessor

    lm = tts.flow_lm
    theirs = reference_transformers(model, text)
    apart = _apart((theirs - lm.emb_mean) / lm.emb_std, spoken.latents)
    theirs_noisy = reference_transformers(model, text, noise=lambda frame: drawn[frame])
    apart_noisy = _apart((theirs_noisy - lm.emb_mean) / lm.emb_std, noisy)
    heard = PocketTTSProcessor.from_pretrained(model.transformers_dir).decode(theirs)
    apart_heard = _apart(heard, torch.from_numpy(spoken.waveform))
    assert apart < 1e-4, apart
    assert apart_noisy < 1e-3, apart_noisy
    assert apart_heard < 1e-3, apart_heard
    return f", apart {apart:.1e} (noisy {apart_noisy:.1e}), heard {apart_heard:.1e}"


def _apart(one: torch.Tensor, other: torch.Tensor) -> float:
    assert one.shape == other.shape, (one.shape, other.shape)
    return float((one - other).abs().max())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        _check(Path(made) / "lsd", flow="lsd")
        _check(Path(made) / "drifting", flow="drifting", seed=1)
        _check(Path(made) / "deep", flow="lsd", seed=2, layers=6)
        _check(Path(made) / "pointwise", flow="pointwise", small=True)
        _check(Path(made) / "small", flow="drifting", small=True, seed=1)
