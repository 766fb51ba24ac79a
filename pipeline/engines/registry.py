"""Engines by name. A new model is a module with `Sampling`, `open_frontend` and `open_engine`, and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import ModuleType

from pipeline.engines.base import Engine, Frontend
from pipeline.errors import VoiceError
from pipeline.voices import Voice

_MODULES = {"tone": "pipeline.engines.tone", "piper": "pipeline.engines.piper"}


def open_frontend(voice: Voice) -> Frontend:
    """The text side of a voice's model: cheap, no weights. Raises `VoiceError`."""
    frontend: Frontend = _module(voice).open_frontend(voice)
    return frontend


def open_engine(voice: Voice) -> Engine:
    """A voice's model with its weights, checked against the digest in the voice file. Raises `VoiceError`."""
    engine: Engine = _module(voice).open_engine(voice)
    return engine


def check_model(voice: Voice) -> None:
    """Whether a voice's model is here and is the right file, without loading it. Raises `VoiceError`."""
    _module(voice).check_model(voice)


def sampling(voice: Voice, settings: Mapping[str, float]) -> dict[str, float]:
    """What the profile says of a voice's engine; raises `ConfigError` for a key that it doesn't know."""
    checked: dict[str, float] = _module(voice).check_sampling(settings)
    return checked


def _module(voice: Voice) -> ModuleType:
    if voice.engine not in _MODULES:
        raise VoiceError(
            f"The voice {voice.name} needs the engine {voice.engine}, which this version of render-book "
            "doesn't have yet: choose another, such as --voice joe."
        )
    return import_module(_MODULES[voice.engine])
