"""The package qwen-tts, which only the environment of its own has: imported, and a checkpoint loaded by it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from pipeline.errors import VoiceError

_UNUSED = ("sox", "onnxruntime", "einops", "torchaudio", "torchaudio.compliance", "torchaudio.compliance.kaldi")
"""What it imports for its 25 Hz speech tokenizer alone, which we refuse: 200 MB, and a torch of their own choice."""


def load_model(folder: Path, dtype: torch.dtype, device: torch.device) -> Any:
    """A `Qwen3TTSModel` of the package with its speech tokenizer, in evaluation mode. Raises `VoiceError`."""
    try:
        with importable():
            from qwen_tts.core.models import Qwen3TTSForConditionalGeneration
            from qwen_tts.inference.qwen3_tts_model import Qwen3TTSModel
    except ImportError as error:
        raise VoiceError(f"The environment of the engine qwen3 isn't what it should be ({error}).") from None
    try:
        model = Qwen3TTSForConditionalGeneration.from_pretrained(str(folder), dtype=dtype, local_files_only=True)
    except Exception as error:  # noqa: BLE001 - a config, a shape, a file: each layer of it has errors of its own
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        raise VoiceError(
            f"The weights in {folder} don't make a Qwen3-TTS model ({said}): fetch the checkpoint again."
        ) from None
    model.to(device).eval()
    model.speech_tokenizer.model.to(device).eval()
    model.speech_tokenizer.device = device
    return Qwen3TTSModel(model, processor=None)


@contextmanager
def importable() -> Iterator[None]:
    """Within, the package can be imported, though modules that it names aren't installed: empty ones stand in.

    For librosa it is a module with the one function that is called.
    """
    import transformers  # noqa: F401 - before any of them: it notes which libraries there are

    made = {name: ModuleType(name) for name in _UNUSED if not _is_here(name.partition(".")[0])}
    for module in made.values():
        module.__dict__["__getattr__"] = _nothing
    if not _is_here("librosa"):
        made["librosa"], made["librosa.filters"] = ModuleType("librosa"), ModuleType("librosa.filters")
        made["librosa.filters"].__dict__["mel"] = _mel_filters
    for name, module in made.items():
        above, _, last = name.rpartition(".")
        if above:
            setattr(made[above], last, module)
    sys.modules.update(made)
    try:
        yield
    finally:
        for name in made:
            del sys.modules[name]


def _is_here(name: str) -> bool:
    return name in sys.modules or importlib.util.find_spec(name) is not None


def _nothing(name: str) -> None:
    if name.startswith("__"):
        raise AttributeError(name)


def _mel_filters(*, sr: int, n_fft: int, n_mels: int, fmin: float, fmax: float) -> Any:
    """`librosa.filters.mel`, `[n_mels, 1 + n_fft // 2]`, by transformers' function of the same meaning."""
    from transformers.audio_utils import mel_filter_bank

    filters = mel_filter_bank(1 + n_fft // 2, n_mels, fmin, fmax, sr, norm="slaney", mel_scale="slaney")
    return np.ascontiguousarray(filters.T, dtype=np.float32)
