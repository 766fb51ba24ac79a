"""A voice from a recording: encoded once, kept as the codec's latents."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save

from pipeline.engines import hub
from pipeline.engines.pocket.encoder import encode
from pipeline.engines.pocket.model import open_model
from pipeline.engines.pocket.voice_state import LATENTS
from pipeline.engines.recording import read_recording
from pipeline.errors import VoiceError


@dataclass(frozen=True, slots=True)
class Cloned:
    """A recording's latents as a safetensors file, and what a voice file must say to use them."""

    data: bytes
    options: dict[str, str]
    seconds: float
    """How long the recording is."""


def clone_voice(recording: Path, file_name: str, model_name: str, codec: str = "") -> Cloned:
    """Encode a recording for a model, whose weights must have their encoder. Raises `VoiceError`."""
    model = open_model(model_name, codec)
    samples, seconds = read_recording(recording, model.sample_rate)
    try:
        checkpoint = model.load(fetch=True, with_encoder=True)
    except hub.MissingFile as missing:
        raise VoiceError(
            f"A voice is made with the weights of {model_name} that have an encoder, {missing.source}, which aren't "
            f"here ({missing.reason}). Kyutai asks you to accept its terms for them: on the model's page, then "
            "`hf auth login`. The voices that `render-book voices` lists need none of it."
        ) from None
    if "encoder.downsample.weight" not in checkpoint.weights:
        raise VoiceError(f"The weights of {model_name} have no encoder: take ones that do, to make a voice with.")
    latents = encode(torch.from_numpy(samples), checkpoint.weights.under("encoder"), checkpoint.geometry.encoder)
    made_by = {"model": model.identity(fetch=False), "recording": recording.name}
    data = save({LATENTS: latents.float()}, made_by)
    model_name, codec = (
        str(Path(name).resolve()) if name and Path(name).exists() else name for name in (model_name, codec)
    )
    options = {"model": model_name, "state": file_name, "sha256": hashlib.sha256(data).hexdigest()}
    return Cloned(data, options | ({"codec": codec} if codec else {}), seconds)
