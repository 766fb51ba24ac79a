"""Engines by name. A new model is a module with `open_frontend`, `open_engine` and `check_model`, and a line here."""

from __future__ import annotations

import difflib
from importlib import import_module
from types import ModuleType

from pipeline.engines.base import Engine, Frontend
from pipeline.errors import ConfigError, VoiceError
from pipeline.voices import Voice

_MODULES = {"tone": "pipeline.engines.tone", "piper": "pipeline.engines.piper"}
_COMING = ("pocket",)


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


def is_known(voice: Voice) -> bool:
    """Whether this version has the engine of a voice."""
    return voice.engine in _MODULES


def _module(voice: Voice) -> ModuleType:
    if voice.engine not in (*_MODULES, *_COMING):
        close = difflib.get_close_matches(voice.engine, _MODULES, n=1)
        raise ConfigError(
            f"The voice file {voice.name}: engine: there is no engine {voice.engine!r}"
            + (f" (did you mean {close[0]}?)." if close else f": choose from {', '.join(_MODULES)}.")
        )
    if not is_known(voice):
        raise VoiceError(
            f"The voice {voice.name} needs the engine {voice.engine}, which this version of render-book "
            "doesn't have yet: choose another, such as --voice joe."
        )
    return import_module(_MODULES[voice.engine])
