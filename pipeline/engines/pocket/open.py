"""From a voice to a running engine: weights, device, number format, threads. Loads torch."""

from __future__ import annotations

import torch

from pipeline.engines import hub
from pipeline.engines.base import Hardware, Request, num_cores
from pipeline.engines.device import choose_device, choose_dtype
from pipeline.engines.pocket import Options, missing_model, model_source, state_source
from pipeline.engines.pocket.backbone import Backbone, Prefix
from pipeline.engines.pocket.engine import PocketEngine, Shape
from pipeline.engines.pocket.model import Checkpoint, Model, open_model
from pipeline.engines.pocket.voice_state import made_by, read_prefix
from pipeline.engines.pocket.weights import Weights
from pipeline.errors import VoiceError
from pipeline.voices import Voice

_SLOTS = {"cpu": 32, "cuda": 256, "mps": 64}


def open_pocket(voice: Voice, hardware: Hardware) -> PocketEngine:
    """Raises `VoiceError` for weights or voices that aren't what they should be, or a device that isn't here."""
    options = voice.options_as(Options)
    device = choose_device(hardware.device)
    model = open_model(*model_source(voice, options))
    try:
        _, encode = model.open_text(fetch=False)
        checkpoint = model.load(fetch=False)
    except hub.MissingFile as missing:
        raise missing_model(voice, missing) from None
    shape = shape_for(device, choose_dtype(options.dtype, device), hardware)
    weights = Weights({name: tensor.to(device) for name, tensor in checkpoint.weights.items()})
    of_voices = {name: tensor for name, tensor in weights.items() if name.startswith("voice.")}
    # All other tensors live on in the engine's own form alone.
    voices = _Voices(voice, options, model, Weights(of_voices), device)
    placed = Checkpoint(checkpoint.geometry, weights)
    try:
        engine = PocketEngine(placed, model.sampling, encode, voices.prefix_of, shape)
    except (KeyError, ValueError, RuntimeError) as error:
        raise VoiceError(
            f"The weights of {model.name} don't make a Pocket TTS model ({type(error).__name__}: {error}): fetch them "
            "again, or check that its config is theirs."
        ) from None
    voices.check(engine.backbone)
    return engine


def shape_for(device: torch.device, dtype: torch.dtype, hardware: Hardware) -> Shape:
    """How a replica runs on a device. On an accelerator batches keep their shape, and are asked every fourth step."""
    num_slots = hardware.num_slots or _SLOTS[device.type]
    if device.type != "cpu":
        return Shape(num_slots, dtype, device, num_codec_threads=0, window=64, steps_unread=4, is_static=True)
    num_threads = hardware.num_threads or num_cores()
    if num_slots == 1:
        # One row reads all weights for each frame: memory is what it waits for, and two cores read faster than one.
        torch.set_num_threads(num_threads)
        return Shape(num_slots, dtype, device, num_codec_threads=0)
    # One thread an operation: with more, a row's bits depend on the slot it lies in. The other cores decode.
    torch.set_num_threads(1)
    num_codec_threads = max(0, min(num_threads, 4) - 1)
    return Shape(num_slots, dtype, device, num_codec_threads, reads_alone=dtype != torch.float32)


class _Voices:
    """The prefixes of the voices that a replica has been asked for; all of the model that it holds."""

    def __init__(self, voice: Voice, options: Options, model: Model, weights: Weights, device: torch.device) -> None:
        self._voice, self._options, self._model = voice, options, model
        self._weights, self._device = weights, device
        self._prefixes: dict[str, Prefix] = {}

    def check(self, backbone: Backbone) -> None:
        """Whether the voice fits the weights: said when the model is opened, not by every chunk."""
        self._open(self._voice, backbone)

    def prefix_of(self, request: Request, backbone: Backbone) -> Prefix:
        return self._open(request.voice or self._voice, backbone)

    def _open(self, voice: Voice, backbone: Backbone) -> Prefix:
        if voice.digest not in self._prefixes:
            options = voice.options_as(Options)
            if model_source(voice, options) != model_source(self._voice, self._options):
                raise VoiceError(f"The voice {voice.name} is of the model {options.model}, not {self._options.model}.")
            try:
                path = hub.locate(state_source(voice, options), fetch=False)
            except hub.MissingFile as missing:
                raise missing_model(voice, missing) from None
            prefix = read_prefix(path, voice.name, backbone, self._weights, self._device)
            maker = made_by(path)  # published states don't say; weights are hashed only where one does
            if maker and maker != self._model.identity(fetch=False):
                raise VoiceError(
                    f"The voice {voice.name} was added for another model than {options.model}: add it again from its "
                    "recording, with --model."
                )
            self._prefixes[voice.digest] = prefix
        return self._prefixes[voice.digest]
