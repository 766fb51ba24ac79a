"""Text to tokens, by the files of the checkpoint: the byte-level BPE of Qwen2."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipeline.errors import VoiceError

# As transformers 4.57.3 splits text for Qwen2 before it is encoded.
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def open_tokenizer(folder: Path) -> Callable[[str], list[int]]:
    """What encodes a text, in which nothing is a special token, whatever it spells. Raises `VoiceError`."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    try:
        if (folder / "tokenizer.json").is_file():
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        else:
            tokenizer = Tokenizer(models.BPE.from_file(str(folder / "vocab.json"), str(folder / "merges.txt")))
            tokenizer.normalizer = normalizers.NFC()
            split = pre_tokenizers.Split(Regex(_WORDS), behavior="isolated")
            byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
            tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    except Exception as error:  # noqa: BLE001 - the library has no class of its own for a file that is none
        raise VoiceError(f"The tokenizer in {folder} can't be read ({error}): fetch the checkpoint again.") from None
    tokenizer.encode_special_tokens = True
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return lambda text: [*tokenizer.encode(text, add_special_tokens=False).ids]
