"""Qwen3-TTS in waves: rows begin together, each ends by itself, and the next wave begins when all have."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pipeline.engines.base import Failed, Hardware, RawTake, Request
from pipeline.engines.codec_tokens import boost_rule
from pipeline.engines.device import choose_device, choose_dtype
from pipeline.engines.qwen3 import Options, choose_language, locate_checkpoint
from pipeline.engines.qwen3.checkpoint import Checkpoint
from pipeline.engines.qwen3.package import load_model
from pipeline.engines.qwen3.text import open_tokenizer
from pipeline.engines.qwen3.wave import Wave
from pipeline.engines.recording import read_recording
from pipeline.voices import Voice

_SLOTS = {"cpu": 16, "cuda": 32, "mps": 16}
"""Always as many rows, so that a row has the same bits in any wave: on the CPU those of 13 rows and more (0010)."""

_LENGTH_STEP = 64
"""Prompts are padded to a multiple of it, for the same reason: a softmax's summands are added in another order else."""

_GATHER_S = 0.2
"""How long a wave that isn't full waits for another row, of the seconds that it takes."""


@dataclass(frozen=True, slots=True)
class _Row:
    request: Request
    tokens: tuple[int, ...]

    @property
    def kind(self) -> tuple[int, Mapping[str, float]]:
        """What must be the same in all rows of a wave: the padded length of the text, and the sampling."""
        return -(-len(self.tokens) // _LENGTH_STEP) * _LENGTH_STEP, dict(self.request.sampling)


def open_qwen3(voice: Voice, hardware: Hardware) -> Qwen3Engine:
    """Raises `VoiceError` for a checkpoint, recording or device that isn't what it should be."""
    options = voice.options_as(Options)
    device = choose_device(hardware.device)
    if device.type == "cpu":
        torch.set_num_threads(1)  # with more, a row's bits depend on its slot (0010)
    checkpoint = locate_checkpoint(voice, options, fetch=False)
    package = load_model(checkpoint.folder, choose_dtype(options.dtype, device), device)
    num_slots = hardware.num_slots or _SLOTS[device.type]
    speaker = _Speaker(options.speaker.lower() or None, choose_language(voice, options, checkpoint))
    if options.recording:
        samples, _ = read_recording(voice.folder / options.recording, checkpoint.sample_rate)
        speaker.listen(package, (samples, checkpoint.sample_rate), options.recording_text)
    return Qwen3Engine(package.model, checkpoint, speaker, num_slots)


class _Speaker:
    """Who speaks: a preset speaker, or a recording's voice."""

    def __init__(self, name: str | None, language: str) -> None:
        self.name, self.language = name, language
        self.prompt: dict[str, Any] | None = None
        self.text = ""
        self.codes: Tensor | None = None
        """Of the recording, `[num_frames, num_codebooks]`, where the model goes on from it."""

    def listen(self, package: Any, recording: tuple[np.ndarray, int], text: str) -> None:
        """Without the text of the recording only the colour of its voice is taken over."""
        items = package.create_voice_clone_prompt(recording, text or None, x_vector_only_mode=not text)
        names = ("ref_code", "ref_spk_embedding", "x_vector_only_mode", "icl_mode")
        self.prompt = {name: [getattr(item, name) for item in items] for name in names}
        self.text, self.codes = text, items[0].ref_code


class Qwen3Engine:
    """The package's model with the `generate` of its talker and of its code predictor hooked."""

    def __init__(self, model: Any, checkpoint: Checkpoint, speaker: _Speaker, num_slots: int) -> None:
        self._model, self._checkpoint, self._speaker, self._num_slots = model, checkpoint, speaker, num_slots
        self._encode = open_tokenizer(checkpoint.folder)
        self._waiting: list[_Row] = []
        self._wave: Wave | None = None
        self._came_at = 0.0
        config = model.config
        self._eos_id: int = config.talker_config.codec_eos_token_id
        self._num_codebooks: int = config.talker_config.num_code_groups
        newline = self._encode("\n")
        self._role = [config.im_start_token_id, *self._encode("assistant"), *newline]
        self._end = [config.im_end_token_id, *newline]
        talker, predictor = model.talker, model.talker.code_predictor
        generate, inner_generate = talker.generate, predictor.generate
        talker.generate = lambda **said: generate(**self._choices.talker_arguments(said))
        predictor.generate = lambda **said: inner_generate(**self._choices.inner_arguments(said))

    @property
    def free_slots(self) -> int:
        return self._num_slots - len(self._waiting)

    def admit(self, request: Request) -> None:
        self._waiting.append(_Row(request, tuple(self._encode(request.text))))
        self._came_at = time.monotonic()

    def step(self) -> list[RawTake | Failed]:
        """A wave of the rows that fit together; nothing while others may still come in."""
        if self.free_slots and time.monotonic() - self._came_at < _GATHER_S:
            time.sleep(0.01)
            return []
        first = self._waiting[0].kind
        rows = [row for row in self._waiting if row.kind == first]
        self._waiting = [row for row in self._waiting if row.kind != first]
        return self._say(rows, first[0])

    @property
    def _choices(self) -> Wave:
        assert self._wave is not None
        return self._wave

    def _say(self, rows: list[_Row], length: int) -> list[RawTake | Failed]:
        sampling, frame_rate = rows[0].request.sampling, self._checkpoint.frame_rate
        rules = [boost_rule(sampling, len(row.tokens), row.request.budget, frame_rate) for row in rows]
        rules = [replace(rule, budget=max(2, rule.budget) + 1) for rule in rules]  # its last step makes no frame
        num_filling = self._num_slots - len(rows)
        rules += [replace(rules[0], budget=2)] * num_filling
        filled = rows + rows[:1] * num_filling
        # Only a preset speaker's prompt holds the text; after a recording it comes in with the frames.
        num_padding = 0 if self._speaker.prompt else length - max(len(row.tokens) for row in rows)
        self._wave = Wave(
            [row.request.seed for row in filled],
            rules,
            sampling,
            self._eos_id,
            self._num_codebooks,
            self._model.device,
            num_padding=num_padding,
        )
        codes = self._generate(filled, sampling["repetition_penalty"])
        wave, self._wave = self._wave, None
        made = zip(rows, codes, wave.results(), strict=False)  # those that fill the wave are nobody's
        takes = [self._take(row.request, its_codes, result) for row, its_codes, result in made]
        return [
            replace(take, trace=wave.trace(slot, frame_rate))
            if isinstance(take, RawTake) and rows[slot].request.wants_trace
            else take
            for slot, take in enumerate(takes)
        ]

    def _generate(self, rows: list[_Row], repetition_penalty: float) -> list[Tensor]:
        """The codes of each row, `[num_frames, num_codebooks]`, by the package, in the modes that it has by default."""
        speaker, num_rows = self._speaker, len(rows)
        prompt = {name: value * num_rows for name, value in speaker.prompt.items()} if speaker.prompt else None
        said = self._tensor(self._role + self._encode(speaker.text) + self._end) if speaker.text else None
        codes, _ = self._model.generate(
            input_ids=[self._tensor([*self._role, *row.tokens, *self._end, *self._role]) for row in rows],
            ref_ids=[said] * num_rows,
            voice_clone_prompt=prompt,
            languages=[speaker.language] * num_rows,
            speakers=[speaker.name] * num_rows,
            non_streaming_mode=prompt is None,
            repetition_penalty=repetition_penalty,
        )
        return list(codes)

    def _tensor(self, tokens: list[int]) -> Tensor:
        return torch.tensor([tokens], device=self._model.device)

    def _take(self, request: Request, codes: Tensor, result: tuple[int, bool, bool]) -> RawTake | Failed:
        num_frames, has_ended, is_broken = result
        if is_broken:
            return Failed(request.key, request.attempt, "exception", "the model's scores were no numbers")
        samples = self._decode(codes[:num_frames])
        return RawTake(request.key, request.attempt, "eos" if has_ended else "budget", samples, num_frames)

    def _decode(self, codes: Tensor) -> np.ndarray:
        """The samples of a row's codes, each row alone, so that its bytes don't depend on the others."""
        before = self._speaker.codes
        whole = codes if before is None else torch.cat([before.to(codes.device), codes])
        [samples], _ = self._model.speech_tokenizer.decode([{"audio_codes": whole}])
        skipped = (len(whole) - len(codes)) * self._checkpoint.samples_per_frame
        return np.ascontiguousarray(samples[skipped:], dtype=np.float32)
