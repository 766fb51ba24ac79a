"""A tiny CSM checkpoint of the real classes: random weights, its own tokenizer and chat template, made offline."""

from __future__ import annotations

from pathlib import Path

import tokenizers
import torch
from transformers import CsmConfig, CsmForConditionalGeneration, MimiConfig, PreTrainedTokenizerFast

NUM_CODEBOOKS = 4
CODEBOOK_SIZE = 64
_SPECIAL = ("<|pad|>", "<|begin_of_text|>", "<|end_of_text|>", "<|AUDIO|>", "<|audio_eos|>")
_TEMPLATE = (
    "{% for message in messages %}{{ bos_token }}[{{ message['role'] }}]"
    "{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}{{ eos_token }}"
    "{% elif part['type'] == 'audio' %}<|AUDIO|><|audio_eos|>{% endif %}{% endfor %}{% endfor %}"
)


def make_checkpoint(folder: Path, seed: int = 0) -> Path:
    """A model of two layers that speaks noise, and hardly ever ends."""
    tokenizer = _make_tokenizer()
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in _SPECIAL}
    codec = MimiConfig(
        hidden_size=16, num_filters=2, codebook_size=CODEBOOK_SIZE, codebook_dim=8, num_quantizers=NUM_CODEBOOKS,
        vector_quantization_hidden_dimension=8, upsample_groups=16, num_hidden_layers=1, intermediate_size=32,
        num_attention_heads=2, num_key_value_heads=2, head_dim=8, sliding_window=16,
    )  # fmt: skip
    shape = {
        "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3,
        "num_codebooks": NUM_CODEBOOKS, "vocab_size": CODEBOOK_SIZE + 3,
    }  # fmt: skip
    config = CsmConfig(
        **shape, hidden_size=32, num_hidden_layers=2, text_vocab_size=len(tokenizer), max_position_embeddings=512,
        pad_token_id=ids["<|pad|>"], bos_token_id=ids["<|begin_of_text|>"], audio_token_id=ids["<|AUDIO|>"],
        audio_eos_token_id=ids["<|audio_eos|>"], codebook_pad_token_id=CODEBOOK_SIZE + 2, codebook_eos_token_id=0,
        depth_decoder_config={**shape, "hidden_size": 16, "num_hidden_layers": 1, "backbone_hidden_size": 32,
                              "max_position_embeddings": NUM_CODEBOOKS + 1},
        codec_config=codec.to_dict(),
    )  # fmt: skip
    torch.manual_seed(seed)
    model = CsmForConditionalGeneration(config).eval()
    for name, buffer in model.codec_model.named_buffers():
        if name.endswith("embed_sum"):  # all zeros as they are made: every code would sound the same
            buffer.normal_()
    for weights in model.codec_model.decoder.decoder_seanet.layers[-1].parameters():
        weights.data *= 0.1  # else it clips
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _make_tokenizer() -> PreTrainedTokenizerFast:
    """Of bytes and a few pairs of them; with specials of its own, as the published one has."""
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(_SPECIAL),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = ["The lamp went out, and nobody had told her that the bridge was gone.", "He counted the boats twice."]
    model.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token="<|begin_of_text|>", eos_token="<|end_of_text|>", pad_token="<|pad|>",
        chat_template=_TEMPLATE,
    )  # fmt: skip
