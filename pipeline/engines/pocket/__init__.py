"""Kyutai's Pocket TTS, in batches: what the registry asks for. Torch is loaded with the weights, not before."""

from __future__ import annotations

import hashlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipeline.engines import hub
from pipeline.engines.base import EngineSpec, Hardware, file_digest
from pipeline.engines.pocket import kyutai
from pipeline.engines.pocket.model import Model, open_model
from pipeline.errors import VoiceError
from pipeline.script.script import Boundary
from pipeline.strict_yaml import Strict
from pipeline.voices import Voice

if TYPE_CHECKING:
    from pipeline.engines.pocket.engine import PocketEngine

REVISION = "1"
"""Of this engine: raised whenever the same request would sound otherwise."""

_TOKENS_PER_SECOND, _SPARE_SECONDS = 3.0, 2.0
"""Upstream's bound on how long a text takes to say, and the room beyond it."""

_MEAN_TOKENS_PER_SECOND = 4.5
"""How long it most likely takes: narrators say about 155 words a minute, and a vocabulary of 4,000, as the released one
is, makes 1.8 tokens of a word of English prose (one trained on half of some old novels, counted on the other half)."""


class Options(Strict):
    """A voice of Pocket TTS.

    model: a name of Kyutai's (`english`), the path of a config in its form, or a transformers checkpoint: a folder,
    or owner/name@revision with its codec in `codec`. state: what the model remembers of the voice, the name of one
    that Kyutai publishes or a .safetensors file; `sha256` of such a file. dtype: the number format, if not the
    fastest that the device has.
    """

    model: str
    codec: str = ""
    state: str
    sha256: str = ""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"


def expected_frames(num_tokens: int, frame_rate: float) -> int:
    """The frames that a text of so many tokens most likely takes."""
    return round(num_tokens / _MEAN_TOKENS_PER_SECOND * frame_rate)


def open_frontend(voice: Voice) -> PocketFrontend:
    return PocketFrontend(voice)


def open_engine(voice: Voice, hardware: Hardware) -> PocketEngine:
    from pipeline.engines.pocket.open import open_pocket

    return open_pocket(voice, hardware)


def weights_of(voice: Voice) -> str:
    """Voices of one model share a replica."""
    options = voice.options_as(Options)
    return f"{model_source(voice, options)} {options.dtype}"


def check_model(voice: Voice) -> None:
    """Fetch what isn't here yet, if there is a network; compare a voice file of one's own with its digest."""
    options = voice.options_as(Options)
    model = open_model(*model_source(voice, options))
    try:
        model.fetch()
        state = hub.locate(state_source(voice, options), fetch=True)
    except hub.MissingFile as missing:
        raise missing_model(voice, missing) from None
    if options.sha256 and file_digest(state) != options.sha256:
        raise VoiceError(
            f"{state} isn't the file that the voice {voice.name} names (its sha256 differs): add the voice again, or "
            "correct its voice file."
        )


class PocketFrontend:
    """Text preparation and tokens, by the model's own tokenizer; its weights stay where they are."""

    def __init__(self, voice: Voice) -> None:
        options = voice.options_as(Options)
        model = open_model(*model_source(voice, options))
        try:
            self._prepare, self._encode = model.open_text(fetch=True)
            identity = model.identity(fetch=True)
            state = state_source(voice, options)
            if not state.startswith("hf://"):
                state = file_digest(hub.locate(state, fetch=False))
        except hub.MissingFile as missing:
            raise missing_model(voice, missing) from None
        self._frame_rate = model.frame_rate
        made_of = "\0".join([identity, state, options.dtype])
        digest = hashlib.sha256(made_of.encode()).hexdigest()
        self.spec = EngineSpec("pocket", f"{REVISION}-{digest[:16]}", f"{identity[:16]}", model.sample_rate)

    def prepare(self, text: str, ends: Boundary) -> str:
        # A clause is prepared as a sentence too: without a final mark its last word is mumbled or said twice.
        return self._prepare(text)

    def num_tokens(self, prepared: str) -> int:
        return len(self._encode(prepared))

    def budget(self, prepared: str) -> int:
        seconds = self.num_tokens(prepared) / _TOKENS_PER_SECOND + _SPARE_SECONDS
        return math.ceil(seconds * self._frame_rate)


def model_source(voice: Voice, options: Options) -> tuple[str, str]:
    """A voice's model and codec: names, or paths from the voice file's folder."""
    codec = hub.source_near(voice.folder, options.codec) if options.codec else ""
    return hub.source_near(voice.folder, options.model), codec


def state_source(voice: Voice, options: Options) -> str:
    """Where a voice's state lies: a path (from the voice file's folder), or a place on the hub."""
    if options.state.startswith("hf://"):
        return options.state
    if options.state.endswith(".safetensors"):
        return str(voice.folder / options.state)
    if Path(options.model).suffix in (".yaml", ".yml") or "/" in options.model:
        raise VoiceError(
            f"The voice {voice.name} is kept as {options.state!r} for Kyutai's own models; for {options.model} give "
            "its .safetensors file, or add it from a recording with `render-book voices add`."
        )
    return kyutai.voice_source(options.model, options.state)


def missing_model(voice: Voice, missing: hub.MissingFile) -> VoiceError:
    """One sentence for a model that is neither here nor to be had."""
    if not missing.source.startswith("hf://") and "@" not in missing.source:
        return VoiceError(
            f"The voice {voice.name} needs {missing.source}, which isn't here ({missing.reason}): correct the path in "
            "its voice file or in the profile, or choose another voice."
        )
    return VoiceError(
        f"The voice {voice.name} needs {missing.source}, which isn't here ({missing.reason}). With a network, "
        f"`render-book voices fetch {voice.name}` (with your --config, if any) downloads all it needs (up to 450 MB), "
        "once; --voice joe speaks without."
    )


__all__ = ["Model", "Options", "PocketFrontend", "check_model", "open_engine", "open_frontend"]
