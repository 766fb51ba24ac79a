"""From flags and a profile to a job, strictly checked: what is to be rendered, and how."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from pipeline.engines.base import Hardware
from pipeline.errors import UsageError
from pipeline.script.script import Boundary
from pipeline.shipped import shipped
from pipeline.strict_yaml import Strict, check, merge, read_tree
from pipeline.voices import DEFAULT_VOICE

if TYPE_CHECKING:
    from pipeline.master.stitcher import MasterRules
    from pipeline.render.judge import JudgeRules

FORMATS = ("m4b", "flac")


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

    def sampling(self) -> dict[str, float]:
        return self.model_dump()

    def voice_options(self) -> dict[str, str]:
        """What stands in place of the voice file's own options."""
        return {}

    def hardware(self, num_threads: int) -> Hardware:
        """What a replica with so many cores may use."""
        return Hardware(num_threads=num_threads)


class ToneProfile(EngineProfile):
    pass


class PiperProfile(EngineProfile):
    """How lively the voice is, and its rhythm; a `length_scale` above 1 is slower."""

    noise_scale: float = Field(ge=0, le=2)
    noise_w_scale: float = Field(ge=0, le=2)
    length_scale: float = Field(ge=0.3, le=4)


_AUTO = BeforeValidator(lambda value: None if value == "auto" else value)


class PocketProfile(EngineProfile):
    """Pocket TTS: `auto` is what the model was published with, or what suits the device."""

    longest_first_within: ClassVar[int] = 256

    model: str
    codec: str
    dtype: Literal["auto", "float32", "bfloat16"]
    device: Literal["auto", "cpu", "cuda", "mps"]
    slots: Annotated[Annotated[int, Field(ge=1, le=4096)] | None, _AUTO]
    temperature: Annotated[Annotated[float, Field(ge=0, le=2)] | None, _AUTO]
    eos_threshold: Annotated[float | None, _AUTO]
    min_frames: Annotated[Annotated[int, Field(ge=0, le=100)] | None, _AUTO]
    frames_after_eos: Annotated[Annotated[int, Field(ge=0, le=50)] | None, _AUTO]

    def sampling(self) -> dict[str, float]:
        names = ("temperature", "eos_threshold", "min_frames", "frames_after_eos")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def voice_options(self) -> dict[str, str]:
        options = {name: value for name in ("model", "codec", "dtype") if (value := getattr(self, name)) != "auto"}
        if "model" in options:
            options.setdefault("codec", "")  # a voice's own codec is its own model's
        # A path is that of the profile's user, wherever `redo` is run from.
        return {
            name: str(Path(value).resolve()) if Path(value).exists() and value else value
            for name, value in options.items()
        }

    def hardware(self, num_threads: int) -> Hardware:
        return Hardware(self.device, num_threads, self.slots or 0)


class EnginesProfile(Strict):
    """What is each engine's own."""

    tone: ToneProfile = ToneProfile()
    piper: PiperProfile
    pocket: PocketProfile


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


@dataclass(frozen=True, slots=True)
class Job:
    """One book to render. `output` is None for the default, `output/<title>`; `chapters` for all kept ones."""

    source: Path
    voice: str = DEFAULT_VOICE
    output: Path | None = None
    chapters: tuple[int, ...] | None = None
    formats: tuple[str, ...] | None = None
    config: Path | None = None
    lexicon: Path | None = None
    num_workers: int = 1
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    """What flags say in place of the profile, by dotted keys."""


def parse_chapters(text: str) -> tuple[int, ...]:
    """`1-3,7` as (1, 2, 3, 7). Raises `UsageError`."""
    chosen: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?", part)
        if match is None:
            raise UsageError(f"--chapters {text!r} isn't a list of chapters: write it as 1-3,7.")
        first, last = int(match[1]), int(match[2] or match[1])
        if first < 1 or last < first:
            raise UsageError(f"--chapters {text!r}: {part.strip()} holds no chapter: they count from 1 upwards.")
        chosen.update(range(first, last + 1))
    return tuple(sorted(chosen))


def parse_formats(formats: Sequence[str]) -> tuple[str, ...]:
    """The formats to deliver, each once. Raises `UsageError` for one that doesn't exist."""
    names = tuple(dict.fromkeys(name.strip().lower() for name in formats if name.strip()))
    for name in names:
        if name not in FORMATS:
            raise UsageError(f"The format {name!r} can't be made (yet): choose from {', '.join(FORMATS)}.")
    if not names:
        raise UsageError(f"--format names no format: choose from {', '.join(FORMATS)}.")
    return names
