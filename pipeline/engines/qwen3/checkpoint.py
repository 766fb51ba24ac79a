"""A checkpoint of Qwen3-TTS: its files, and what its configs say. Read as JSON: its own classes aren't here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.engines import hub
from pipeline.errors import VoiceError

_CODEC = "speech_tokenizer"
_FILES = ("config.json", "generation_config.json", f"{_CODEC}/config.json", f"{_CODEC}/preprocessor_config.json")
_WEIGHTS = ("*.safetensors", f"{_CODEC}/*.safetensors")
_TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))

_KINDS = ("custom_voice", "base")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """`kind` is `custom_voice` or `base`; speakers and languages as its config names them, in lower case."""

    folder: Path
    kind: str
    speakers: tuple[str, ...]
    languages: tuple[str, ...]
    sample_rate: int
    """Hz."""
    samples_per_frame: int

    @property
    def frame_rate(self) -> float:
        """Frames a second."""
        return self.sample_rate / self.samples_per_frame


def find_folder(source: str, *, fetch: bool) -> Path:
    """The checkpoint's folder with all its files. Raises `hub.MissingFile`; `VoiceError` where it isn't whole."""
    folder = hub.locate_folder(source, fetch=fetch)
    if fetch and _missing(folder) and not Path(source).is_dir():  # an interrupted download
        folder = hub.locate_folder(source, fetch=fetch, complete=True)
    if missing := _missing(folder):
        raise VoiceError(
            f"{source} isn't a whole Qwen3-TTS checkpoint (it has no {missing}): fetch it again, or correct "
            "options.model."
        )
    return folder


def read_checkpoint(folder: Path) -> Checkpoint:
    """Raises `VoiceError` for a model of another kind."""
    config, codec = _read_json(folder / "config.json"), _read_json(folder / _CODEC / "config.json")
    kind = str(config.get("tts_model_type"))
    if config.get("model_type") != "qwen3_tts" or kind not in _KINDS:
        raise VoiceError(
            f"{folder} is a model of the kind {config.get('tts_model_type') or config.get('model_type')!r}: the engine "
            "qwen3 needs a CustomVoice or a Base checkpoint of Qwen3-TTS."
        )
    if codec.get("model_type") != "qwen3_tts_tokenizer_12hz":
        raise VoiceError(
            f"{folder} has the speech tokenizer {codec.get('model_type')!r}: the engine qwen3 needs a checkpoint with "
            "that of 12 Hz (qwen3_tts_tokenizer_12hz)."
        )
    talker = config.get("talker_config") or {}
    end, vocabulary = talker.get("codec_eos_token_id"), talker.get("vocab_size", 3072)
    if not isinstance(end, int) or not 0 <= end < vocabulary:  # the package's default lies outside
        raise VoiceError(
            f"{folder / 'config.json'}: talker_config.codec_eos_token_id ({end}) is no token of its {vocabulary}, so "
            "speech would never end: correct it."
        )
    return Checkpoint(
        folder=folder,
        kind=kind,
        speakers=tuple(sorted(str(one).lower() for one in talker.get("spk_id") or {})),
        languages=tuple(sorted(one for one in talker.get("codec_language_id") or {} if "dialect" not in one)),
        sample_rate=int(codec.get("output_sample_rate", 24_000)),
        samples_per_frame=int(codec.get("decode_upsample_rate", 1_920)),
    )


def _missing(folder: Path) -> str:
    """The first thing that a whole checkpoint has and this folder hasn't; empty where it is whole."""
    for name in _FILES:
        if not (folder / name).is_file():
            return name
    for pattern in _WEIGHTS:
        if not any(folder.glob(pattern)):
            return pattern
    if not any(all((folder / name).is_file() for name in names) for names in _TOKENIZERS):
        return "tokenizer.json, nor vocab.json and merges.txt"
    return ""


def _read_json(path: Path) -> dict[str, Any]:
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise VoiceError(f"{path} isn't JSON ({error}): fetch the checkpoint again.") from None
    if not isinstance(said, dict):
        raise VoiceError(f"{path} isn't a config: fetch the checkpoint again.")
    return said
