"""The sizes of a Pocket TTS model, as its config gives them: what its tensors' shapes alone don't say."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

FlowKind = Literal["lsd", "drifting", "pointwise"]
"""How the flow head makes a latent of noise: `lsd` by Euler steps over a learnt velocity, `drifting` as its output,
`pointwise` as the noise plus its output."""


@dataclass(frozen=True, slots=True)
class TransformerGeometry:
    """A causal transformer with rotary positions. `context` is how many positions a query sees, itself among them."""

    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    rope_period: float
    context: int | None = None


@dataclass(frozen=True, slots=True)
class CodecGeometry:
    """One side of the Mimi-based codec: `latent_stride` transformer positions a frame, and `ratios` between those and
    samples, in the decoder's order."""

    transformer: TransformerGeometry
    latent_stride: int
    ratios: tuple[int, ...]
    dilations: tuple[int, ...]
    sample_rate: int

    @property
    def frame_size(self) -> int:
        """Samples a frame."""
        return self.latent_stride * math.prod(self.ratios)


@dataclass(frozen=True, slots=True)
class Geometry:
    """A whole model: the backbone, the kind of its flow head, and the two sides of its codec."""

    backbone: TransformerGeometry
    flow: FlowKind
    codec: CodecGeometry
    encoder: CodecGeometry

    @property
    def frame_rate(self) -> float:
        """Frames a second."""
        return self.codec.sample_rate / self.codec.frame_size
