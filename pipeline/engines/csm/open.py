"""From a voice to a running engine: weights, device, number format, the voices' recordings. Loads torch."""

from __future__ import annotations

import torch

from pipeline.engines.base import Hardware, Request, num_cores
from pipeline.engines.csm import FRAMES_PER_SECOND, SAMPLE_RATE, find_model, find_recording, model_source, read_options
from pipeline.engines.csm.engine import CsmEngine
from pipeline.engines.csm.model import CsmModel, Past, Prompt
from pipeline.engines.device import choose_device, choose_dtype
from pipeline.engines.recording import read_recording
from pipeline.errors import VoiceError
from pipeline.voices import Voice

_SLOTS = {"cpu": 8, "cuda": 64, "mps": 16}


def open_csm(voice: Voice, hardware: Hardware) -> CsmEngine:
    """Raises `VoiceError` for a checkpoint or a recording that isn't what it should be, or a device that isn't here."""
    options = read_options(voice)
    device = choose_device(hardware.device)
    if device.type == "cpu":
        torch.set_num_threads(hardware.num_threads or num_cores())
    # On a CPU in float32 unless it is asked otherwise: in bfloat16 a row's codes change with what is beside it.
    is_exact = options.dtype == "auto" and device.type == "cpu"
    dtype = torch.float32 if is_exact else choose_dtype(options.dtype, device)
    model = CsmModel(find_model(voice, options, fetch=False), device, dtype)
    if (model.sample_rate, model.frames_per_second) != (SAMPLE_RATE, FRAMES_PER_SECOND):
        raise VoiceError(
            f"The codec of {options.model} speaks at {model.sample_rate} Hz, {model.frames_per_second} frames a "
            f"second: only {SAMPLE_RATE} Hz and {FRAMES_PER_SECOND} are known."
        )
    voices = _Voices(voice, model)
    voices.hear(voice)  # what is wrong with it is said when the model is opened, not by every chunk
    return CsmEngine(model, voices.prompt_of, hardware.num_slots or _SLOTS[device.type], device)


class _Voices:
    """What is remembered of the voices that a replica has been asked for; all of the model that it holds."""

    def __init__(self, voice: Voice, model: CsmModel) -> None:
        self._voice, self._model = voice, model
        self._heard: dict[str, Past | None] = {}

    def prompt_of(self, request: Request) -> Prompt:
        voice = request.voice or self._voice
        options = read_options(voice)
        return self._model.prompt(options.speaker, request.text, self.hear(voice), options.recording_text)

    @torch.inference_mode()
    def hear(self, voice: Voice) -> Past | None:
        """What the model remembers of a voice's recording; None where it has none. Raises `VoiceError`."""
        if voice.digest not in self._heard:
            options = read_options(voice)
            if model_source(voice, options) != model_source(self._voice, read_options(self._voice)):
                raise VoiceError(
                    f"The voice {voice.name} is of another model than {self._voice.name}: {options.model}."
                )
            past = None
            if path := find_recording(voice, options):
                codes = self._model.encode(torch.from_numpy(read_recording(path, SAMPLE_RATE)[0]))
                past = self._model.hear(options.speaker, options.recording_text, codes)
            self._heard[voice.digest] = past
        return self._heard[voice.digest]
