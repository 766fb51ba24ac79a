"""Which device a model runs on, and in which number format. Loads torch."""

from __future__ import annotations

import torch

from pipeline.errors import VoiceError


def choose_device(name: str) -> torch.device:
    """`cpu`, `cuda` or `mps`; `auto` is the best of them that is here."""
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if name == "auto":
        return torch.device("cuda" if here["cuda"] else "cpu")  # mps has not been measured against the CPU yet
    if not here[name]:
        raise VoiceError(f"There is no {name} device here (or this torch can't use it): choose --device cpu or auto.")
    return torch.device(name)


def choose_dtype(name: str, device: torch.device) -> torch.dtype:
    """`float32` or `bfloat16`; `auto` is the latter where the device multiplies it faster."""
    if name != "auto":
        return torch.float32 if name == "float32" else torch.bfloat16
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    is_fast = device.type == "cpu" and (torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported())
    return torch.bfloat16 if is_fast else torch.float32
