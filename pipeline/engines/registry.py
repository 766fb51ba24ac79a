"""Engines by name. A new model is a module with `open_frontend`, `open_engine` and `check_model`, and a line here."""

from __future__ import annotations

import difflib
from importlib import import_module
from types import ModuleType

from pipeline.engines.base import Engine, Frontend, Hardware
from pipeline.errors import ConfigError
from pipeline.voices import Voice

_MODULES = {
    "tone": "pipeline.engines.tone",
    "piper": "pipeline.engines.piper",
    "pocket": "pipeline.engines.pocket",
    "csm": "pipeline.engines.csm",
    "qwen3": "pipeline.engines.qwen3",
}


def engine_names() -> tuple[str, ...]:
    return tuple(_MODULES)


def open_frontend(voice: Voice) -> Frontend:
    """The text side of a voice's model: cheap, no weights. Raises `VoiceError`."""
    frontend: Frontend = _module(voice).open_frontend(voice)
    return frontend


def open_engine(voice: Voice, hardware: Hardware) -> Engine:
    """A voice's model with its weights, checked against the digest in the voice file. Raises `VoiceError`."""
    engine: Engine = _module(voice).open_engine(voice, hardware)
    return engine


def model_of(voice: Voice, hardware: Hardware) -> str:
    """What a replica holds, as a name: voices for which it is the same can share one."""
    module = _module(voice)
    weights = module.weights_of(voice) if hasattr(module, "weights_of") else voice.digest
    return f"{voice.engine} {weights} {hardware}"


def check_model(voice: Voice) -> None:
    """Whether a voice's model is here (it is fetched, where it can be) and the right file. Raises `VoiceError`."""
    _module(voice).check_model(voice)


def packages_of(engine: str) -> tuple[str, ...]:
    """What an engine needs that no environment can hold beside ours: pip's requirements; empty for most."""
    return tuple(getattr(import_module(_MODULES[engine]), "PACKAGES", ()))


def check_engine(voice: Voice) -> None:
    """Whether there is such an engine. Raises `ConfigError`."""
    if voice.engine not in _MODULES:
        close = difflib.get_close_matches(voice.engine, _MODULES, n=1)
        raise ConfigError(
            f"The voice file {voice.name}: engine: there is no engine {voice.engine!r}"
            + (f" (did you mean {close[0]}?)." if close else f": choose from {', '.join(_MODULES)}.")
        )


def _module(voice: Voice) -> ModuleType:
    check_engine(voice)
    return import_module(_MODULES[voice.engine])
