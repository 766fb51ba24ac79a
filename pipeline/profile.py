"""Render profiles: how a book is split, rendered, judged and mastered. `configs/default.yaml`, and files over it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from pipeline.engines.base import Hardware
from pipeline.script.script import Boundary
from pipeline.shipped import shipped
from pipeline.strict_yaml import Strict, check, merge, read_tree

if TYPE_CHECKING:
    from pipeline.master.stitcher import MasterRules
    from pipeline.render.judge import JudgeRules


class ScriptProfile(Strict):
    max_tokens: int = Field(ge=8)
    min_words: int = Field(ge=0)


class RenderProfile(Strict):
    attempts: int = Field(ge=1)
    max_splits: int = Field(ge=0)


class MasterProfile(Strict):
    fade_in_ms: int = Field(ge=0, le=5_000)
    fade_out_ms: int = Field(ge=0, le=5_000)
    keep_before_ms: int = Field(ge=0, le=5_000)
    keep_after_ms: int = Field(ge=0, le=5_000)
    trim_below_dbfs: float = Field(lt=0)
    level_dbfs: float = Field(le=0)
    peak_dbfs: float = Field(le=0)
    level_from_chunks: int = Field(ge=1)

    def rules(self) -> MasterRules:
        from pipeline.master.stitcher import MasterRules

        names = [field.name for field in dataclasses.fields(MasterRules)]
        return MasterRules(**{name: getattr(self, name) for name in names})


class JudgeProfile(Strict):
    silent_below_dbfs: float = Field(lt=0)
    max_clipped_share: float = Field(ge=0, le=1)
    min_seconds_per_letter: float = Field(ge=0)
    max_seconds_per_letter: float = Field(gt=0)
    max_extra_seconds: float = Field(ge=0)

    def rules(self, trim_below_dbfs: float) -> JudgeRules:
        from pipeline.render.judge import JudgeRules

        return JudgeRules(**self.model_dump(), trim_below_dbfs=trim_below_dbfs)


class GapsProfile(Strict):
    clause: int = Field(ge=0, le=60_000)
    sentence: int = Field(ge=0, le=60_000)
    paragraph: int = Field(ge=0, le=60_000)
    heading: int = Field(ge=0, le=60_000)
    scene: int = Field(ge=0, le=60_000)
    chapter: int = Field(ge=0, le=60_000)

    def after(self, ends: Boundary) -> int:
        """Milliseconds of silence after a chunk that ends at this boundary."""
        return int(getattr(self, ends.value))


class DeliverProfile(Strict):
    formats: tuple[Literal["m4b", "flac"], ...] = Field(min_length=1)
    aac_kbps: int = Field(ge=16, le=320)


class EngineProfile(Strict):
    """What a profile says of an engine. By default all of it is sampling, which is in a chunk's key."""

    longest_first_within: ClassVar[int] = 0
    """Chunks, as whole chapters, that are rendered longest first: for engines that render in batches."""

    cores: ClassVar[int] = 1
    """That a replica keeps busy."""

    traces_eos: ClassVar[bool] = False
    """Whether its takes can bring an end-of-speech trace."""

    def wants_gpu(self) -> bool:
        return False

    def sampling(self) -> dict[str, float]:
        return self.model_dump()

    def voice_options(self) -> dict[str, str]:
        """What stands in place of the voice file's own options."""
        return {}

    def hardware(self, num_threads: int) -> Hardware:
        """What a replica with so many cores may use."""
        return Hardware(num_threads=num_threads)


class ToneProfile(EngineProfile):
    traces_eos: ClassVar[bool] = True


class PiperProfile(EngineProfile):
    """How lively the voice is, and its rhythm; a `length_scale` above 1 is slower."""

    noise_scale: float = Field(ge=0, le=2)
    noise_w_scale: float = Field(ge=0, le=2)
    length_scale: float = Field(ge=0.3, le=4)


_AUTO = BeforeValidator(lambda value: None if value == "auto" else value)


def _absolute(name: str) -> str:
    """A path is that of the profile's user, wherever `redo` is run from; any other name stays as it is."""
    return str(Path(name).resolve()) if name and Path(name).exists() else name


class PocketProfile(EngineProfile):
    """Pocket TTS: `auto` is what the model was published with, or what suits the device."""

    longest_first_within: ClassVar[int] = 256
    cores: ClassVar[int] = 2  # one steps the batch, one decodes
    traces_eos: ClassVar[bool] = True

    model: str
    codec: str
    dtype: Literal["auto", "float32", "bfloat16"]
    device: Literal["auto", "cpu", "cuda", "mps"]
    slots: Annotated[Annotated[int, Field(ge=1, le=4096)] | None, _AUTO]
    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | None, _AUTO]
    eos_threshold: Annotated[float | None, _AUTO]
    min_frames: Annotated[Annotated[int, Field(ge=0, le=100)] | None, _AUTO]
    frames_after_eos: Annotated[Annotated[int, Field(ge=0, le=50)] | None, _AUTO]
    eos_fall: float = Field(ge=0)
    eos_near: float = Field(ge=0)
    eos_near_frames: int = Field(ge=1, le=100)
    eos_expected_share: float = Field(ge=0, le=10)

    def sampling(self) -> dict[str, float]:
        names = ["temperature", "eos_threshold", "min_frames", "frames_after_eos"]
        if self.eos_fall:  # off, its numbers change no key
            names += ["eos_fall", "eos_near", "eos_near_frames", "eos_expected_share"]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def wants_gpu(self) -> bool:
        return self.device in ("auto", "cuda")

    def voice_options(self) -> dict[str, str]:
        options = {name: value for name in ("model", "codec", "dtype") if (value := getattr(self, name)) != "auto"}
        if "model" in options:
            options.setdefault("codec", "")  # a voice's own codec is its own model's
        return {name: _absolute(value) for name, value in options.items()}

    def hardware(self, num_threads: int) -> Hardware:
        return Hardware(self.device, num_threads, self.slots or 0)


class CodecProfile(EngineProfile):
    """Models that choose a token of a codec a step: `engines/codec_tokens.py` and `engines/eos.py` use the numbers."""

    longest_first_within: ClassVar[int] = 256
    cores: ClassVar[int] = 8  # a replica's weights are 4 to 7 GB, and any number of cores share its operations
    traces_eos: ClassVar[bool] = True

    model: str
    dtype: Literal["auto", "float32", "bfloat16"]
    device: Literal["auto", "cpu", "cuda", "mps"]
    slots: Annotated[Annotated[int, Field(ge=1, le=1024)] | None, _AUTO]
    temperature: float = Field(ge=0, le=2)
    top_k: int = Field(ge=1)
    inner_temperature: float = Field(ge=0, le=2)
    inner_top_k: int = Field(ge=1)
    tokens_per_second: float = Field(ge=1, le=20)
    max_share: float = Field(ge=1, le=10)
    spare_seconds: float = Field(ge=0, le=10)
    eos_scale: float = Field(ge=0, le=100)
    eos_rank: int = Field(ge=1)
    eos_steps: int = Field(ge=1, le=100)
    eos_from_share: float = Field(ge=0, le=2)

    def sampling(self) -> dict[str, float]:
        unheard = {"model", "dtype", "device", "slots"}
        if not self.eos_scale:
            unheard |= {"eos_scale", "eos_rank", "eos_steps", "eos_from_share"}
        return self.model_dump(exclude=unheard)

    def wants_gpu(self) -> bool:
        return self.device in ("auto", "cuda")

    def voice_options(self) -> dict[str, str]:
        options = {name: value for name in ("model", "dtype") if (value := getattr(self, name)) != "auto"}
        return {name: _absolute(value) for name, value in options.items()}

    def hardware(self, num_threads: int) -> Hardware:
        return Hardware(self.device, num_threads, self.slots or 0)


class Qwen3Profile(CodecProfile):
    """Qwen3-TTS: a token of the first codebook that a row has used scores so many times lower."""

    repetition_penalty: float = Field(ge=1, le=2)


class EnginesProfile(Strict):
    """What is each engine's own."""

    tone: ToneProfile = ToneProfile()
    piper: PiperProfile
    pocket: PocketProfile
    csm: CodecProfile
    qwen3: Qwen3Profile


class Profile(Strict):
    """A render profile: `configs/default.yaml`, and over it the file that --config names."""

    script: ScriptProfile
    gaps_ms: GapsProfile
    render: RenderProfile
    judge: JudgeProfile
    master: MasterProfile
    deliver: DeliverProfile
    engines: EnginesProfile

    def engine(self, name: str) -> EngineProfile:
        found: EngineProfile = getattr(self.engines, name)
        return found

    def judge_rules(self) -> JudgeRules:
        return self.judge.rules(self.master.trim_below_dbfs)


def read_profile(path: Path | None, settings: Mapping[str, str] | None = None) -> Profile:
    """The default profile, with what the file at `path` says in its place, and over it what flags say.

    settings: values by their dotted keys, such as `engines.pocket.device`. Raises `ConfigError`.
    """
    tree, lines, faults = read_tree(shipped("configs") / "default.yaml")
    if path is not None:
        over, over_lines, over_faults = read_tree(path)
        tree, lines, faults = merge(tree, over), lines | over_lines, faults + over_faults
    for key, value in (settings or {}).items():
        said: Any = value
        for part in reversed(key.split(".")):
            said = {part: said}
        tree = merge(tree, said)
    return check(Profile, tree, lines, faults)
