"""The public fake: a sine of exact length per token. It misbehaves as its voice file tells it to.

    engine: tone
    options:
      faults:
        - {match: lighthouse, do: miss-eos, attempts: "0,1"}

Its end-of-speech logit is -9, and 1 on the last frame, unless it misses its end.

`do` is `miss-eos`, `clip`, `silent`, `nan`, `short`, `raise`, `hang` or `die`; without `attempts` at each one.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from typing import Literal

import numpy as np
from pydantic import Field

from pipeline.engines.base import EngineSpec, EosTrace, Failed, Hardware, RawTake, Request, Samples, Stop, with_stop
from pipeline.errors import VoiceError
from pipeline.script.script import Boundary
from pipeline.strict_yaml import Strict
from pipeline.voices import Voice

SAMPLE_RATE = 24_000
FRAME = 1_920
"""Samples a frame: 80 ms, as Pocket TTS has them."""
FRAMES_PER_TOKEN = 2
_STEP_S = 0.01
"""The longest step: so soon are others let in."""

# Long words are several tokens, as in a model's own vocabulary.
_TOKEN = re.compile(r"\w{1,8}|[^\w\s]+")


class Fault(Strict):
    match: str
    do: Literal["miss-eos", "clip", "silent", "nan", "short", "raise", "hang", "die"]
    attempts: str = ""

    def applies(self, request: Request) -> bool:
        attempts = [part.strip() for part in self.attempts.split(",") if part.strip()]
        return self.match in request.text and (not attempts or str(request.attempt) in attempts)


class Options(Strict):
    faults: tuple[Fault, ...] = ()
    seconds_per_take: float = 0.0
    """How long a take keeps its slot, to stand for a model's work."""
    slots: int = Field(default=1, ge=1)
    opens: bool = True
    """Whether the model loads."""


def open_frontend(voice: Voice) -> ToneFrontend:
    return ToneFrontend()


def open_engine(voice: Voice, hardware: Hardware) -> ToneEngine:
    options = voice.options_as(Options)
    if not options.opens:
        raise VoiceError(f"The voice {voice.name} was told not to open: correct its voice file.")
    return ToneEngine(options)


def check_model(voice: Voice) -> None:
    voice.options_as(Options)


class ToneFrontend:
    spec = EngineSpec(name="tone", revision="2", tokenizer="w8", sample_rate=SAMPLE_RATE)

    def prepare(self, text: str, ends: Boundary) -> str:
        return text if ends is Boundary.CLAUSE else with_stop(text)

    def num_tokens(self, prepared: str) -> int:
        return len(_TOKEN.findall(prepared))

    def budget(self, prepared: str) -> int:
        return 2 * FRAMES_PER_TOKEN * self.num_tokens(prepared)


class ToneEngine:
    """Rows come in at any time, and each is done `seconds_per_take` later."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._frontend = ToneFrontend()
        self._rows: list[tuple[float, Request]] = []

    @property
    def free_slots(self) -> int:
        return self._options.slots - len(self._rows)

    def admit(self, request: Request) -> None:
        self._rows.append((time.monotonic() + self._options.seconds_per_take, request))

    def step(self) -> list[RawTake | Failed]:
        wait = min(due for due, _ in self._rows) - time.monotonic()
        time.sleep(min(max(wait, 0.0), _STEP_S))
        now = time.monotonic()
        done = [request for due, request in self._rows if due <= now]
        self._rows = [(due, request) for due, request in self._rows if due > now]
        return [self._render(request) for request in done]

    def _render(self, request: Request) -> RawTake | Failed:
        deeds = {fault.do for fault in self._options.faults if fault.applies(request)}
        if "die" in deeds:
            os._exit(1)
        if "hang" in deeds:
            time.sleep(3600)
        if "raise" in deeds:
            return Failed(request.key, request.attempt, "exception", "the tone was told to fail")
        num_frames = FRAMES_PER_TOKEN * self._frontend.num_tokens(request.text)
        stop: Stop = "eos"
        if "miss-eos" in deeds:
            num_frames, stop = request.budget, "budget"
        if "short" in deeds:
            num_frames = 1
        samples = _sine(request, num_frames)
        if "clip" in deeds:
            samples = np.clip(samples * 40, -1.0, 1.0)
        if "silent" in deeds:
            samples[:] = 0.0
        if "nan" in deeds:
            samples[len(samples) // 2] = np.nan
        trace = _trace(num_frames, stop, request.budget) if request.wants_trace else None
        return RawTake(request.key, request.attempt, stop, samples, num_frames, trace)


def _trace(num_frames: int, stop: Stop, budget: int) -> EosTrace:
    last, end = (1.0, num_frames - 1) if stop == "eos" else (-9.0, None)
    rule = {"threshold": 0.0, "tail_frames": 0, "budget": budget, "expected": budget // 2}
    return EosTrace("logit", SAMPLE_RATE / FRAME, (-9.0,) * (num_frames - 1) + (last,), end, rule)


def _sine(request: Request, num_frames: int) -> Samples:
    """Its pitch comes from text and seed, so that two texts, or two attempts, never sound the same."""
    digest = hashlib.sha256(f"{request.text}\0{request.seed}".encode()).digest()
    hertz = 150 + int.from_bytes(digest[:4], "big") % 40_000 / 100
    step = 2j * np.pi * hertz / SAMPLE_RATE
    # A frame's first sample turned by what lies before it: a tenth of the time that a sine of every sample takes.
    begins, turns = 0.2 * np.exp(step * FRAME * np.arange(num_frames)), np.exp(step * np.arange(FRAME))
    return np.ascontiguousarray(np.outer(begins.astype(np.complex64), turns.astype(np.complex64)).imag).reshape(-1)
