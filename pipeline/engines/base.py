"""The protocol of every model, and the nouns that cross it. No heavy library is imported here."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from pipeline.script.script import Boundary
from pipeline.voices import Voice

Samples = npt.NDArray[np.float32]
"""Mono audio, shape `[num_samples]`, full scale at 1.0."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """What a chunk's key must know of an engine. `revision` changes whenever its sound does.

    `tokenizer` is a digest of what counts the tokens; `sample_rate` is in Hz. `takes_ipa`: whether its text may hold
    sounds, each word of them as ⟦ipa⟧.
    """

    name: str
    revision: str
    tokenizer: str
    sample_rate: int
    takes_ipa: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """One chunk, asked of an engine. `seed` is a function of key and attempt alone.

    `budget` is the most frames it may take; `voice` None for the one that the engine was opened with; `continues` the
    keys of takes it continues from (none yet). `wants_trace`: whether its take should bring its `EosTrace`.
    """

    key: str
    text: str
    attempt: int
    seed: int
    budget: int
    sampling: Mapping[str, float] = field(default_factory=dict)
    voice: Voice | None = None
    continues: tuple[str, ...] = ()
    wants_trace: bool = False


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a replica may use. Nothing of it is heard, so nothing of it is in a key.

    device: `auto`, `cpu`, `cuda` or `mps`. num_threads: cores it may keep busy, 0 for all of this process.
    num_slots: rows at once, 0 for what suits the device.
    """

    device: str = "auto"
    num_threads: int = 0
    num_slots: int = 0


def file_digest(path: Path) -> str:
    """The sha256 of a file's bytes, in hexadecimal: what a voice file says of a model, and a key knows of one."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def num_cores() -> int:
    """Cores that this process may use, which on a shared machine are fewer than there are."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def num_gpus() -> int:
    """NVIDIA devices that this process may use, without loading what uses them."""
    here = len([*Path("/proc/driver/nvidia/gpus").glob("*")])
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return here if visible is None else min(here, len([name for name in visible.split(",") if name.strip()]))


def num_sharing(num_devices: float, each: float) -> int:
    """How many replicas so many devices carry: a fraction of one lies on one device, as Ray places it."""
    return int(num_devices) * int(1 / each + 1e-6) if each < 1 else int(num_devices / each + 1e-6)


Stop = Literal["eos", "budget"]


@dataclass(frozen=True, slots=True)
class EosTrace:
    """What a take's end of speech was judged by, a number for each of its frames. Nothing of it is heard.

    measure: `logit`, against a threshold, or the `rank` of a token; of ranks there is one more where speech ended, for
    the step that made no frame. end: the frame on which end of speech fired, from 0 on; None where none did. rule: the
    figures of the rule by their names, and when it armed, in frames.
    """

    measure: Literal["logit", "rank"]
    frames_per_second: float
    values: tuple[float, ...]
    end: int | None
    rule: Mapping[str, float | None]

    def as_dict(self) -> dict[str, object]:
        """For JSON: values as short as float32 allows, and None for those that are no finite numbers."""
        values = [float(str(np.float32(value))) if np.isfinite(value) else None for value in self.values]
        measured = {"measure": self.measure, "frames_per_second": self.frames_per_second}
        return {**measured, **self.rule, "end": self.end, "values": values}


@dataclass(frozen=True, slots=True)
class RawTake:
    """What an engine made of a request: unjudged, untrimmed. `stop` says what ended it.

    `trace` only of an engine that has one, and where the request wants it.
    """

    key: str
    attempt: int
    stop: Stop
    samples: Samples
    num_frames: int
    trace: EosTrace | None = None


FailureKind = Literal["crash", "exception", "out of memory", "lost"]
"""`lost` accuses nobody: a machine went away, or the whole run was killed."""


@dataclass(frozen=True, slots=True)
class Failed:
    """No take came of a request. `alone` says that nothing else ran beside it."""

    key: str
    attempt: int
    kind: FailureKind
    message: str
    alone: bool = False


class Frontend(Protocol):
    """The text side of a model, without its weights: the script is written with it."""

    @property
    def spec(self) -> EngineSpec: ...

    def prepare(self, text: str, ends: Boundary) -> str:
        """What the model is really given. `ends` matters only by whether it is a clause."""
        ...

    def num_tokens(self, prepared: str) -> int: ...

    def budget(self, prepared: str) -> int:
        """The most frames that a text may take; reaching it is a missed end of speech."""
        ...


class Engine(Protocol):
    """A model with its weights; one a replica."""

    @property
    def free_slots(self) -> int: ...

    def admit(self, request: Request) -> None:
        """Put a request into a free slot. Only called while `free_slots` is above zero."""
        ...

    def step(self) -> list[RawTake | Failed]:
        """One frame for every slot, or more; returns the rows that ended."""
        ...


class OneSlot:
    """What an engine that isn't batched is made of: one request at a time, rendered whole by `render`."""

    def __init__(self) -> None:
        self._request: Request | None = None

    @property
    def free_slots(self) -> int:
        return 0 if self._request else 1

    def admit(self, request: Request) -> None:
        self._request = request

    def step(self) -> list[RawTake | Failed]:
        request, self._request = self._request, None
        return [self.render(request)] if request else []

    def render(self, request: Request) -> RawTake | Failed:
        raise NotImplementedError


END_OF_SENTENCE = ".!?…"
CLOSERS = "\"'”’»)]}›"


def ends_with_stop(text: str) -> bool:
    """Whether the last mark that isn't a closing quote or bracket ends a sentence."""
    return text.rstrip(CLOSERS + " ").endswith(tuple(END_OF_SENTENCE))


def with_stop(text: str) -> str:
    """Give a text that ends without one a full stop; a comma, colon or dash at its end becomes one.

    The stop goes before closing brackets and quotes, where a typesetter would put it.
    """
    if ends_with_stop(text):
        return text
    body = text.rstrip(CLOSERS + " ")
    closers = text[len(body) :].strip()
    return body.rstrip(",;:—–- ") + "." + closers
