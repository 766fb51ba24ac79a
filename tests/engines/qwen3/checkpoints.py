"""Tiny checkpoints of Qwen3-TTS with random weights, made by the package's own classes, in its environment.

As a script: `python -m tests.engines.qwen3.checkpoints FOLDER` makes `FOLDER/custom`, `FOLDER/base` and `FOLDER/wide`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch

CODES, GROUPS = 64, 4
EOS = 70
"""Above the codes, as in the released checkpoints; the last 1024 tokens but this one are suppressed."""

LEVEL = 0.1
"""Of its sound, root mean square."""

SPEAKER = {
    "enc_dim": 32, "enc_channels": [16, 16, 16, 16, 48], "enc_attention_channels": 8, "enc_res2net_scale": 2,
    "enc_se_channels": 8,
}  # fmt: skip

_WORD = "assistant"
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tts_pad>", "<tts_text_bos>", "<tts_text_eod>")


def write_tokenizer(folder: Path) -> dict[str, int]:
    """Bytes, one word of several letters, and the special tokens: vocab.json and merges.txt as they are published."""
    from tokenizers.pre_tokenizers import ByteLevel

    merges = [(_WORD[:length], _WORD[length]) for length in range(1, len(_WORD))]
    words = [*sorted(ByteLevel.alphabet()), *(a + b for a, b in merges)]
    vocab = {word: number for number, word in enumerate(words)}
    (folder / "vocab.json").write_text(json.dumps(vocab, ensure_ascii=False))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
    special = {token: len(vocab) + number for number, token in enumerate(SPECIAL)}
    added = {
        str(number): {
            "content": token, "lstrip": False, "normalized": False, "rstrip": False, "single_word": False,
            "special": True,
        }
        for token, number in special.items()
    }  # fmt: skip
    config = {
        "tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": added, "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>", "processor_class": "Qwen3TTSProcessor", "add_prefix_space": False,
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return special


def make_talker(kind: str, special: dict[str, int], width: int) -> Any:
    from qwen_tts.core.models import Qwen3TTSConfig, Qwen3TTSForConditionalGeneration

    small: dict[str, Any] = {
        "hidden_size": width, "intermediate_size": width * 3 // 2, "num_hidden_layers": 2, "head_dim": 16,
        "num_attention_heads": width // 16, "num_key_value_heads": width // 32, "num_code_groups": GROUPS,
        "initializer_range": 1.7 / width**0.5,
    }  # fmt: skip
    talker = small | {
        "vocab_size": CODES + 1024, "text_hidden_size": 24, "text_vocab_size": len(special) + min(special.values()),
        "rope_scaling": {"rope_type": "default", "mrope_section": [4, 2, 2], "interleaved": True},
        "codec_eos_token_id": EOS, "codec_think_id": 71, "codec_nothink_id": 72, "codec_think_bos_id": 73,
        "codec_think_eos_id": 74, "codec_pad_id": 75, "codec_bos_id": 76,
        "codec_language_id": {"english": 77, "chinese": 78},
        "spk_id": {"ada": 80, "ben": 81} if kind == "custom_voice" else {},
        "spk_is_dialect": {"ada": False, "ben": False} if kind == "custom_voice" else {},
        "code_predictor_config": small | {"vocab_size": CODES},
    }  # fmt: skip
    config = Qwen3TTSConfig(
        talker_config=talker,
        speaker_encoder_config=SPEAKER,
        tokenizer_type="qwen3_tts_tokenizer_12hz",
        tts_model_size="0b6",
        tts_model_type=kind,
        im_start_token_id=special["<|im_start|>"],
        im_end_token_id=special["<|im_end|>"],
        tts_pad_token_id=special["<tts_pad>"],
        tts_bos_token_id=special["<tts_text_bos>"],
        tts_eos_token_id=special["<tts_text_eod>"],
    )
    return Qwen3TTSForConditionalGeneration(config).eval()


def make_codec() -> Any:
    from qwen_tts.core import Qwen3TTSTokenizerV2Config, Qwen3TTSTokenizerV2Model

    encoder = {
        "hidden_size": 32, "num_filters": 4, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2,
        "head_dim": 16, "intermediate_size": 32, "codebook_size": CODES, "codebook_dim": 16,
        "vector_quantization_hidden_dimension": 16, "num_quantizers": GROUPS, "num_semantic_quantizers": 1,
        "upsampling_ratios": [8, 6, 5, 4], "sampling_rate": 24_000, "upsample_groups": 32,
    }  # fmt: skip
    decoder = {
        "codebook_size": CODES, "codebook_dim": 16, "hidden_size": 32, "latent_dim": 16, "num_attention_heads": 2,
        "num_key_value_heads": 2, "head_dim": 16, "intermediate_size": 32, "num_hidden_layers": 1,
        "num_quantizers": GROUPS, "decoder_dim": 32, "upsample_rates": [8, 5, 4, 3], "upsampling_ratios": [2, 2],
    }  # fmt: skip
    config = Qwen3TTSTokenizerV2Config(encoder, decoder, encoder_valid_num_quantizers=GROUPS)
    codec = Qwen3TTSTokenizerV2Model(config).eval()
    for name, weight in codec.decoder.named_parameters():  # as they are made, they make silence
        if "embedding_sum" in name:
            weight.data.normal_()
        elif weight.dim() > 1:
            weight.data.normal_(std=weight[0].numel() ** -0.5)
    last = codec.decoder.decoder[-1].conv
    with torch.no_grad():
        last.weight *= 1e-4
        last.bias.zero_()
        last.weight *= LEVEL / codec.decoder(torch.randint(CODES, (1, GROUPS, 20))).std()
    return codec


def make_tiny(folder: Path, kind: str, width: int = 32) -> Path:
    from transformers import EncodecFeatureExtractor

    torch.manual_seed(5)
    folder.mkdir(parents=True)
    special = write_tokenizer(folder)
    make_talker(kind, special, width).save_pretrained(folder)
    settings = {"do_sample": True, "repetition_penalty": 1.05, "temperature": 0.9, "top_k": 50, "top_p": 1.0}
    (folder / "generation_config.json").write_text(json.dumps(settings))
    config = json.loads((folder / "config.json").read_text())
    config["speaker_encoder_config"] = SPEAKER  # what the package itself saves of it, it doesn't read
    (folder / "config.json").write_text(json.dumps(config))
    make_codec().save_pretrained(folder / "speech_tokenizer")
    EncodecFeatureExtractor(feature_size=1, sampling_rate=24_000).save_pretrained(folder / "speech_tokenizer")
    return folder


if __name__ == "__main__":
    from pipeline.engines.qwen3 import package

    with package.importable():
        import qwen_tts  # noqa: F401 - with what stands in for the packages that it needn't have

    for name, kind in (("custom", "custom_voice"), ("base", "base")):
        make_tiny(Path(sys.argv[1]) / name, kind)
    make_tiny(Path(sys.argv[1]) / "wide", "custom_voice", width=1024)
