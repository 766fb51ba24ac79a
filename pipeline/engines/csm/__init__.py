"""Sesame's CSM, in batches: what the registry asks for. Torch is loaded with the weights, not before.

A backbone chooses a frame's first code, a small decoder the others (transformers 5.24); docs/eos.md says how it ends.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pipeline.engines import hub
from pipeline.engines.base import EngineSpec, Hardware, file_digest, with_stop
from pipeline.engines.codec_tokens import most_frames
from pipeline.engines.recording import read_recording
from pipeline.engines.tokens import open_tokenizer
from pipeline.errors import ConfigError, VoiceError
from pipeline.script.script import Boundary
from pipeline.strict_yaml import Strict
from pipeline.voices import Voice

if TYPE_CHECKING:
    from pipeline.engines.csm.engine import CsmEngine

REVISION = "1"
"""Of this engine: raised whenever the same request would sound otherwise."""

SAMPLE_RATE, FRAMES_PER_SECOND = 24_000, 12.5
"""Of Mimi, its codec; `CsmModel` checks it."""


class Options(Strict):
    """A voice of CSM.

    model: a checkpoint's folder, or owner/name@revision. speaker: the number that stands before what it says.
    recording: a file with up to half a minute of the voice, and in recording_text the words that are heard in it;
    without one, every chunk may be another's voice. dtype: the number format, if not the fastest that the device has.
    """

    model: str
    speaker: str = "0"
    recording: str = ""
    recording_text: str = ""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"


def open_frontend(voice: Voice) -> CsmFrontend:
    return CsmFrontend(voice)


def open_engine(voice: Voice, hardware: Hardware) -> CsmEngine:
    from pipeline.engines.csm.open import open_csm

    return open_csm(voice, hardware)


def weights_of(voice: Voice) -> str:
    """Voices of one model share a replica."""
    options = read_options(voice)
    return f"{model_source(voice, options)} {options.dtype}"


def check_model(voice: Voice) -> None:
    """Fetch what isn't here yet, if there is a network; listen to the recording."""
    try:
        import transformers  # noqa: F401 - to say so before any work, with what to install
    except ImportError:
        raise VoiceError(
            f"The voice {voice.name} is CSM's, which transformers runs: pip install 'render-book[transformers]'."
        ) from None
    options = read_options(voice)
    find_model(voice, options, fetch=True, complete=True)
    if recording := find_recording(voice, options):
        read_recording(recording, SAMPLE_RATE)  # else every chunk of a book that comes later would say what is wrong


class CsmFrontend:
    """Text preparation and tokens, by the model's own tokenizer; its weights stay where they are."""

    def __init__(self, voice: Voice) -> None:
        options = read_options(voice)
        folder = find_model(voice, options, fetch=True)
        recording = find_recording(voice, options)
        self._encode = open_tokenizer(folder / "tokenizer.json", "tokenizers")
        heard = file_digest(recording) if recording else ""
        identity = hub.identity_of_folder(model_source(voice, options))
        made_of = [*identity, options.speaker, heard, options.recording_text, options.dtype]
        digest = hashlib.sha256(json.dumps(made_of).encode()).hexdigest()
        tokenizer = hub.digest_once(folder / "tokenizer.json")
        self.spec = EngineSpec("csm", f"{REVISION}-{digest[:16]}", tokenizer[:16], SAMPLE_RATE)

    def prepare(self, text: str, ends: Boundary) -> str:
        return with_stop(" ".join(text.split()))

    def num_tokens(self, prepared: str) -> int:
        return len(self._encode(prepared))

    def budget(self, prepared: str) -> int:
        """Above what any profile allows: the engine goes by the profile's `max_share` and `spare_seconds`."""
        return most_frames(self.num_tokens(prepared), FRAMES_PER_SECOND)


def read_options(voice: Voice) -> Options:
    """Raises `ConfigError`."""
    options = voice.options_as(Options)
    if bool(options.recording) != bool(options.recording_text):
        raise ConfigError(
            f"The voice file {voice.name}: options: recording and recording_text go together: the model hears the one "
            "while it reads the other."
        )
    return options


def model_source(voice: Voice, options: Options) -> str:
    """The checkpoint: a folder, from where the voice file lies, or a name on the hub."""
    return hub.source_near(voice.folder, options.model)


def find_model(voice: Voice, options: Options, *, fetch: bool, complete: bool = False) -> Path:
    """The checkpoint's folder. Raises `VoiceError`."""
    source = model_source(voice, options)
    try:
        folder = hub.locate_folder(source, fetch=fetch, complete=complete)
    except hub.MissingFile as missing:
        raise VoiceError(
            f"The voice {voice.name} needs the checkpoint {source}, which isn't here ({missing.reason}): correct "
            f"`model` in its voice file, or fetch it with `render-book voices fetch {voice.name}`."
        ) from None
    if read_config(folder).get("model_type") != "csm" or not (folder / "tokenizer.json").is_file():
        raise VoiceError(f"{folder} isn't a checkpoint of CSM as transformers saves it, with its tokenizer.json.")
    return folder


def read_config(folder: Path) -> dict[str, Any]:
    """Empty where there is none."""
    try:
        read = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def find_recording(voice: Voice, options: Options) -> Path | None:
    """Raises `VoiceError`."""
    if not options.recording:
        return None
    path = voice.folder / options.recording
    if not path.is_file():
        raise VoiceError(f"The voice {voice.name} needs the recording {path}, which isn't there: correct its path.")
    return path
