"""Qwen3-TTS, in waves, by the package qwen-tts in an environment of its own: what the registry asks for.

Neither the package nor torch is loaded here: the driver, which counts tokens, has another transformers.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pipeline.engines import hub
from pipeline.engines.base import EngineSpec, Hardware, file_digest, with_stop
from pipeline.engines.codec_tokens import most_frames
from pipeline.engines.qwen3.checkpoint import Checkpoint, find_folder, read_checkpoint
from pipeline.engines.qwen3.text import open_tokenizer
from pipeline.errors import VoiceError
from pipeline.script.script import Boundary
from pipeline.strict_yaml import Strict
from pipeline.voices import Voice

if TYPE_CHECKING:
    from pipeline.engines.qwen3.engine import Qwen3Engine

REVISION = "1"
"""Of this engine: raised whenever the same request would sound otherwise."""

PACKAGES = ("qwen-tts==0.1.1", "transformers==4.57.3", "tokenizers==0.22.2", "huggingface-hub==0.36.2")
"""What stands in its environment in place of ours, 16 MB; all else that it needs is taken over from ours (0019)."""

_LANGUAGES = {
    "zh": "chinese", "en": "english", "de": "german", "it": "italian", "pt": "portuguese", "es": "spanish",
    "ja": "japanese", "ko": "korean", "fr": "french", "ru": "russian",
}  # fmt: skip


class Options(Strict):
    """A voice of Qwen3-TTS.

    model: a checkpoint's folder, or owner/name@revision on the hub. speaker: one of a CustomVoice checkpoint.
    recording: of the voice that a Base checkpoint is to speak with, ten to thirty seconds, and recording_text, what is
    said in it (without it only the voice's colour is taken over). language: as the model names it (`english`), or
    `auto`; by default the voice file's. dtype: the number format, if not the fastest that the device has.
    """

    model: str
    speaker: str = ""
    recording: str = ""
    recording_text: str = ""
    language: str = ""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"


def open_frontend(voice: Voice) -> Qwen3Frontend:
    return Qwen3Frontend(voice)


def open_engine(voice: Voice, hardware: Hardware) -> Qwen3Engine:
    from pipeline.engines.qwen3.engine import open_qwen3

    return open_qwen3(voice, hardware)


def check_model(voice: Voice) -> None:
    """Fetch what isn't here yet, if there is a network, and hold the voice file against the model."""
    options = voice.options_as(Options)
    check_options(voice, options, locate_checkpoint(voice, options, fetch=True))


class Qwen3Frontend:
    """Text preparation and tokens, by the model's own tokenizer; its weights stay where they are."""

    def __init__(self, voice: Voice) -> None:
        options = voice.options_as(Options)
        checkpoint = locate_checkpoint(voice, options, fetch=True)
        check_options(voice, options, checkpoint)
        self._encode = open_tokenizer(checkpoint.folder)
        self._frame_rate = checkpoint.frame_rate
        recording = file_digest(voice.folder / options.recording) if options.recording else ""
        language = choose_language(voice, options, checkpoint)
        identity = _identity(checkpoint.folder, model_source(voice, options))
        made_of = [identity, options.speaker.lower(), recording, options.recording_text, language, options.dtype]
        digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()
        self.spec = EngineSpec("qwen3", f"{REVISION}-{digest[:16]}", identity[:16], checkpoint.sample_rate)

    def prepare(self, text: str, ends: Boundary) -> str:
        return with_stop(" ".join(text.split()))

    def num_tokens(self, prepared: str) -> int:
        return len(self._encode(prepared))

    def budget(self, prepared: str) -> int:
        return most_frames(self.num_tokens(prepared), self._frame_rate)


def model_source(voice: Voice, options: Options) -> str:
    """A voice's model: a path (from the voice file's folder), or a name on the hub."""
    return hub.source_near(voice.folder, options.model)


def locate_checkpoint(voice: Voice, options: Options, *, fetch: bool) -> Checkpoint:
    """Raises `VoiceError` for a model that isn't here, or is of another kind."""
    source = model_source(voice, options)
    try:
        return read_checkpoint(find_folder(source, fetch=fetch))
    except hub.MissingFile as missing:
        remedy = (
            f"with a network, `render-book voices fetch {voice.name}` downloads all it needs (up to 5 GB), once"
            if "@" in source
            else "correct the path in its voice file or in the profile, or choose another voice"
        )
        raise VoiceError(
            f"The voice {voice.name} needs {missing.source}, which isn't here ({missing.reason}): {remedy}."
        ) from None


def check_options(voice: Voice, options: Options, checkpoint: Checkpoint) -> None:
    """Whether the model can speak as the voice file says. Raises `VoiceError`."""
    choose_language(voice, options, checkpoint)
    if checkpoint.kind == "custom_voice":
        if options.recording or options.recording_text:
            raise VoiceError(
                f"The voice {voice.name} gives a recording, but {options.model} speaks with its own speakers only: "
                "give options.speaker, or take a Base checkpoint."
            )
        if options.speaker.lower() not in checkpoint.speakers:
            raise VoiceError(
                f"The voice {voice.name}: {options.model} has no speaker {options.speaker!r}: set options.speaker to "
                f"one of {', '.join(checkpoint.speakers)}."
            )
        return
    if options.speaker or not options.recording:
        raise VoiceError(
            f"The voice {voice.name}: {options.model} is a Base checkpoint, which speaks as a recording does: give "
            "options.recording (and recording_text, what is said in it) and no speaker, or take a CustomVoice one."
        )
    if not (voice.folder / options.recording).is_file():
        raise VoiceError(
            f"The voice {voice.name} needs the recording {voice.folder / options.recording}, which isn't here: correct "
            "options.recording in its voice file."
        )


def choose_language(voice: Voice, options: Options, checkpoint: Checkpoint) -> str:
    """What the model is told of the language: by default the voice's own, `auto` where it has none for it."""
    named = options.language.lower()
    if not named:
        own = _LANGUAGES.get(voice.language.lower().partition("-")[0], "auto")
        return own if own in checkpoint.languages else "auto"
    if named != "auto" and named not in checkpoint.languages:
        raise VoiceError(
            f"The voice {voice.name}: {options.model} has no language {options.language!r}: set options.language to "
            f"auto or one of {', '.join(checkpoint.languages)}."
        )
    return named


def _identity(folder: Path, source: str) -> str:
    """A digest of a folder's files; of a hub repository its pinned name will do."""
    if not Path(source).is_dir():
        return hashlib.sha256(source.encode()).hexdigest()
    files = sorted(file for file in folder.rglob("*.*") if file.suffix in (".json", ".safetensors", ".txt"))
    parts = [f"{file.relative_to(folder)} {hub.digest_once(file)}" for file in files]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
