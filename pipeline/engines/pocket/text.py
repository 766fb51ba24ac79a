"""Text as the model must be given it, and its tokens. No weights, no torch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.engines.tokens import Encode

_FINAL = ".!?…"
_WEAK = ",;:-–—"
_CLOSERS = "\"'”’)]»"
_SHORT_WORDS = 5
"""A text of fewer words gets spaces before it, where a model was trained so."""


@dataclass(frozen=True, slots=True)
class TextRules:
    """How a model wants its text (the keys of Kyutai's configs); the English ones where it doesn't say.

    The order is upstream's: strip, replace, collapse spaces, one mark of two, capital, final mark.
    """

    replacements: Mapping[str, str] = field(default_factory=lambda: {"’": "'", "‘": "'"})
    no_semicolons: bool = False
    final_mark: bool = True
    capital: bool = True
    pad_short: bool = False

    def prepare(self, text: str) -> str:
        text = " ".join(text.translate({ord(old): new for old, new in self.replacements.items()}).split())
        # What a deleted quotation mark leaves: "Hi?" she said, as Hi?, she said.
        text = re.sub(r"([.!?…])\s*[,;:]", r"\1", text) if self.replacements else text
        if self.no_semicolons:
            text = text.replace(";", ",")
        if self.capital:
            text = text[:1].upper() + text[1:]
        if self.final_mark:
            text = _with_final_mark(text)
        if self.pad_short and len(text.split()) < _SHORT_WORDS:
            text = " " * 8 + text
        return text


def _with_final_mark(text: str) -> str:
    """Trained on sentences, the model mumbles or repeats a last word without one."""
    core = text.rstrip(_CLOSERS + " ")
    if not core or core[-1] in _FINAL:
        return text
    if core[-1] in _WEAK:
        return core.rstrip(_WEAK + " ") + "." + text[len(core) :].strip()
    return text + "."


def open_chat_tokenizer(folder: Path) -> tuple[Callable[[str], str], Encode]:
    """Of a checkpoint as transformers saves it: what its chat template makes of a text, and the tokens of that.

    The voice comes from its own state, so only the text of what the template writes is kept.
    """
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    special = sorted(map(str, tokenizer.all_special_tokens), key=len, reverse=True)

    def render(text: str) -> str:
        conversation: Any = [{"role": "user", "content": [{"type": "text", "text": text}]}]
        prompt = str(tokenizer.apply_chat_template(conversation, tokenize=False))
        for token in special:
            prompt = prompt.replace(token, "")
        return prompt

    return render, lambda text: list(tokenizer.encode(text, add_special_tokens=False))
