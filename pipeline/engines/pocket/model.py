"""A Pocket TTS model of either format: its text side without weights, and its weights as one set of tensors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pipeline.engines import hub
from pipeline.engines.base import file_digest
from pipeline.engines.pocket import kyutai, transformers_format
from pipeline.engines.pocket.text import TextRules, open_chat_tokenizer
from pipeline.engines.tokens import open_tokenizer
from pipeline.errors import VoiceError

if TYPE_CHECKING:
    from torch import Tensor

    from pipeline.engines.pocket.geometry import Geometry
    from pipeline.engines.pocket.weights import Weights


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is sampled and when a chunk of it ends, unless the profile says otherwise.

    temperature: the variance of the noise. eos_threshold: a logit above it is the end of speech.
    tail_frames: kept after that frame; None for 4 where a text has at most 4 words, else 2.
    """

    temperature: float = 0.3
    eos_threshold: float = -4.0
    min_frames: int = 6
    tail_frames: int | None = None
    flow_steps: int = 1


class Model(Protocol):
    """One model in one of its formats. Files are located, and fetched where that is allowed, when they are needed."""

    name: str
    sample_rate: int
    frame_rate: float
    sampling: Sampling

    def fetch(self) -> None:
        """Download what isn't here, so that everything else works without a network."""
        ...

    def open_text(self, *, fetch: bool) -> tuple[Callable[[str], str], Callable[[str], list[int]]]:
        """From text to prepared text, and from prepared text to tokens."""
        ...

    def identity(self, *, fetch: bool) -> str:
        """A digest of what the weights are: a pinned revision, or the bytes of a file of one's own."""
        ...

    def load(self, *, fetch: bool, with_encoder: bool = False) -> Checkpoint: ...


@dataclass(frozen=True, slots=True)
class Checkpoint:
    geometry: Geometry
    weights: Weights


def open_model(name: str, codec: str = "") -> Model:
    """A model by its name, by the path of a Kyutai config, or by a folder or hub repository in transformers' format."""
    if ("/" in name and not name.endswith((".yaml", ".yml"))) or Path(name).is_dir():
        return TransformersModel(name, codec)
    if codec:
        raise VoiceError(f"codec: the model {name} brings its own; only a transformers checkpoint has one apart.")
    return KyutaiModel(name)


class KyutaiModel:
    def __init__(self, name: str) -> None:
        self.name = name
        self.config = kyutai.read_config(name)
        self.sample_rate = self.config.mimi.sample_rate
        self.frame_rate = self.config.mimi.frame_rate
        recommended = self.config.model_recommended_frames_after_eos
        self.sampling = Sampling(
            temperature=self.config.default_temperature,
            eos_threshold=self.config.default_eos_threshold,
            # Upstream's count takes the EOS frame for the first of its tail.
            tail_frames=None if recommended is None else max(recommended - 1, 0),
        )

    def fetch(self) -> None:
        hub.locate(self.config.flow_lm.lookup_table.tokenizer_path, fetch=True)
        self.weights_file(fetch=True)

    def open_text(self, *, fetch: bool) -> tuple[Callable[[str], str], Callable[[str], list[int]]]:
        config = self.config
        rules = TextRules(
            replacements=config.replace_characters,
            no_semicolons=config.remove_semicolons,
            final_mark=config.append_terminal_punctuation,
            capital=config.capitalize_first_letter,
            pad_short=config.pad_with_spaces_for_short_inputs,
        )
        table = config.flow_lm.lookup_table
        return rules.prepare, open_tokenizer(hub.locate(table.tokenizer_path, fetch=fetch), table.tokenizer)

    def identity(self, *, fetch: bool) -> str:
        sources = (self.config.weights_path, self.config.flow_lm.lookup_table.tokenizer_path)
        own = [file_digest(hub.locate(source, fetch=fetch)) for source in sources if not source.startswith("hf://")]
        return _digest(self.config.model_dump_json(), *own)

    def weights_file(self, *, fetch: bool, with_encoder: bool = False) -> Path:
        """The open weights can't encode a recording, so they will do for all else; the gated ones for both."""
        gated, open_ = self.config.weights_path, self.config.weights_path_without_voice_cloning
        if with_encoder or open_ is None:
            return hub.locate(gated, fetch=fetch)
        try:
            return hub.locate(gated, fetch=False)
        except hub.MissingFile:
            return hub.locate(open_, fetch=fetch)

    def load(self, *, fetch: bool, with_encoder: bool = False) -> Checkpoint:
        tensors = read_tensors(self.weights_file(fetch=fetch, with_encoder=with_encoder))
        try:
            geometry = self.config.geometry(tensors)
            return _checkpoint(geometry, kyutai.rename(tensors, geometry), with_encoder)
        except KeyError as error:
            raise _not_a_model(self.name, error) from None


class TransformersModel:
    def __init__(self, name: str, codec: str) -> None:
        self.name = name
        if not codec and "@" in name:
            raise VoiceError(
                f"The checkpoint {name} needs its codec beside it: give that in `codec`, at a revision too."
            )
        self._codec = codec or str(Path(name) / "codec")
        try:
            from transformers import PocketTTSConfig  # noqa: F401 - to say so here, with what to install
        except ImportError:
            raise VoiceError(
                f"The model {name} is a transformers checkpoint: pip install 'render-book[transformers]'."
            ) from None
        self._folder: Callable[..., Path] = partial(hub.locate_folder, name)
        self.sample_rate, self.frame_rate = 24_000, 12.5  # of all of them; `load` checks it
        self.sampling = self._read_sampling()

    def fetch(self) -> None:
        for source in (self.name, self._codec):
            hub.locate_folder(source, fetch=True, complete=True)

    def open_text(self, *, fetch: bool) -> tuple[Callable[[str], str], Callable[[str], list[int]]]:
        render, encode = open_chat_tokenizer(self._folder(fetch=fetch))
        rules = TextRules()
        return lambda text: render(rules.prepare(text)), encode

    def identity(self, *, fetch: bool) -> str:
        return _digest(*hub.identity_of_folder(self.name), *hub.identity_of_folder(self._codec))

    def load(self, *, fetch: bool, with_encoder: bool = False) -> Checkpoint:
        folder, codec = self._folder(fetch=fetch), hub.locate_folder(self._codec, fetch=fetch)
        geometry = transformers_format.read_geometry(folder, codec)
        if (geometry.codec.sample_rate, geometry.frame_rate) != (self.sample_rate, self.frame_rate):
            raise VoiceError(
                f"The codec {codec} speaks at {geometry.codec.sample_rate} Hz, {geometry.frame_rate} frames a second: "
                "only 24000 Hz and 12.5 are known."
            )
        bos_id = transformers_format.read_json(folder, "config.json").get("audio_prompt_bos_token_id", 4002)
        try:
            tensors = transformers_format.rename(read_folder(folder), read_folder(codec), geometry, bos_id)
        except KeyError as error:
            raise _not_a_model(self.name, error) from None
        return _checkpoint(geometry, tensors, with_encoder)

    def _read_sampling(self) -> Sampling:
        try:
            folder = self._folder(fetch=True)
        except hub.MissingFile:
            return Sampling()  # whoever needs the files will say that they are missing
        set_ = transformers_format.read_json(folder, "generation_config.json")
        temperature = set_.get("temperature", 1.0) if set_.get("do_sample", False) else 0.0
        return Sampling(
            temperature=float(temperature),
            eos_threshold=float(set_.get("eos_threshold", -4.0)),
            min_frames=int(set_.get("min_frames_before_eos", 6)),
            flow_steps=int(set_.get("num_flow_steps", 1)),
        )


def _checkpoint(geometry: Geometry, tensors: dict[str, Tensor], with_encoder: bool) -> Checkpoint:
    from pipeline.engines.pocket.weights import Weights

    if not with_encoder:
        tensors = {name: tensor for name, tensor in tensors.items() if not name.startswith("encoder.")}
    return Checkpoint(geometry, Weights(tensors))


def read_folder(folder: Path) -> dict[str, Tensor]:
    """All tensors of a folder, whether saved as one file or as several."""
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise VoiceError(f"{folder} holds no .safetensors file: only those are read.")
    tensors: dict[str, Tensor] = {}
    for file in files:
        tensors |= read_tensors(file)
    return tensors


def read_tensors(path: Path) -> dict[str, Tensor]:
    """The tensors of a safetensors file; no other kind is ever opened, since others can run code."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise VoiceError(f"{path} isn't a whole safetensors file ({error}): fetch it again.") from None


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _not_a_model(name: str, error: KeyError) -> VoiceError:
    return VoiceError(f"The weights of {name} aren't those of a Pocket TTS model: they have no {error}.")
