"""The codec's other side: a recording to latents. Run once for a voice, so plain and in float32."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from pipeline.engines.pocket.codec import CodecState, Transformer
from pipeline.engines.pocket.geometry import CodecGeometry
from pipeline.engines.pocket.weights import Weights

_WINDOW = 512
"""Transformer positions at once: memory then doesn't grow with the square of the recording."""


@torch.inference_mode()
def encode(samples: Tensor, weights: Weights, geometry: CodecGeometry) -> Tensor:
    """Latents `[num_frames, latent_dim]` of mono samples `[num_samples]`; zeros fill up the last frame."""
    x = F.pad(samples.float(), (0, -len(samples) % geometry.frame_size))[None, None]
    x = _causal(x, weights.under("first"))
    for stage, ratio in zip(weights.series("stages"), reversed(geometry.ratios), strict=True):
        for block, dilation in zip(stage.series("blocks"), geometry.dilations, strict=True):
            inner = _causal(F.elu(x), block.under("wide"), dilation=dilation)
            x = x + _causal(F.elu(inner), block.under("point"))
        x = _causal(F.elu(x), stage.under("down"), stride=ratio)
    x = _causal(F.elu(x), weights.under("last"))
    transformer, state = Transformer(weights.under("transformer"), geometry.transformer, torch.float32), CodecState()
    x = torch.cat([transformer(part, state) for part in x[0].T.split(_WINDOW)]).T[None]
    x = _causal(x, weights.under("downsample"), stride=geometry.latent_stride, pad_mode="replicate")
    return x[0].T.contiguous()


def _causal(x: Tensor, weights: Weights, stride: int = 1, dilation: int = 1, pad_mode: str = "constant") -> Tensor:
    weight, bias = weights["weight"].float(), weights.get("bias")
    padding = (weight.shape[2] - 1) * dilation + 1 - stride
    x = F.pad(x, (padding, 0), pad_mode)
    return F.conv1d(x, weight, None if bias is None else bias.float(), stride=stride, dilation=dilation)
