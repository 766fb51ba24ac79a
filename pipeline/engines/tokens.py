"""Tokens of a text: by a model's own tokenizer, or of models that have no vocabulary. No weights, no torch."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pipeline.errors import VoiceError

Encode = Callable[[str], list[int]]

_WORDPUNCT = re.compile(r"\w+|[^\w\s]+")


def count_wordpunct(text: str) -> int:
    """How many tokens nltk's `wordpunct_tokenize` makes: runs of word characters, runs of marks.

    The same pattern, so that planning a book with Piper needn't import nltk for it; a test compares.
    """
    return len(_WORDPUNCT.findall(text))


def open_tokenizer(path: Path, kind: Literal["tokenizers", "sentencepiece"]) -> Encode:
    """From text to token ids, by one of the two libraries that tokenizers are made for."""
    try:
        if kind == "tokenizers":
            from tokenizers import Tokenizer

            tokenizer = Tokenizer.from_file(str(path))
            return lambda text: list(tokenizer.encode(text).ids)
        from sentencepiece import SentencePieceProcessor

        processor = SentencePieceProcessor(str(path))
        return lambda text: list(processor.encode(text, out_type=int))
    except Exception as error:  # noqa: BLE001 - both libraries raise bare exceptions of many types
        raise VoiceError(f"{path} isn't a tokenizer that {kind} reads ({error}): fetch the model again.") from None
