"""The codec's decoder: latents to samples, a window at a time, exact at any split.

Signals are `[time, channels]` throughout. What each layer must remember of the window before (its last inputs, and
the last keys and values of the transformer) is the row's own state, so a row's sound doesn't depend on who is decoded
beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from pipeline.engines.pocket.geometry import CodecGeometry, TransformerGeometry
from pipeline.engines.pocket.layers import Conv, Linear, rotary_angles, rotate
from pipeline.engines.pocket.weights import Weights

_NORM_EPS = 1e-5
_elu: Any = torch._C._nn.elu  # F.elu has no `out`


@dataclass(slots=True)
class CodecState:
    """What the decoder remembers of one row: what each layer's next window continues from."""

    position: int = 0
    """Transformer positions behind it."""
    pasts: dict[int, Tensor] = field(default_factory=dict)
    cached: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)
    """The last keys and values, by transformer layer."""

    def past(self, layer: object, like: Tensor) -> Tensor:
        """A layer's last inputs, at first zeros of the shape of `like`."""
        before = self.pasts.get(id(layer))
        return torch.zeros_like(like) if before is None else before


class Decoder:
    def __init__(self, weights: Weights, geometry: CodecGeometry, dtype: torch.dtype) -> None:
        self.geometry = geometry
        self._mean, self._std = weights["latent.mean"].float(), weights["latent.std"].float()
        self._input = Linear(weights["latent_projection.weight"], None, dtype)
        self._upsample = _DepthwiseUpsample(weights["upsample.weight"], geometry.latent_stride, dtype)
        self._transformer = Transformer(weights.under("transformer"), geometry.transformer, dtype)
        self._first = _Conv(weights["first.weight"], weights["first.bias"], 1, dtype)
        self._stages = [
            _Stage(stage, ratio, geometry.dilations, dtype)
            for stage, ratio in zip(weights.series("stages"), geometry.ratios, strict=True)
        ]
        self._last = _Conv(weights["last.weight"], weights["last.bias"], 1, dtype)

    def decode(self, latents: Tensor, state: CodecState) -> Tensor:
        """Samples `[num_frames * frame_size]`, float32, of normalised latents `[num_frames, latent_dim]`."""
        x = self._input(latents.float() * self._std + self._mean)
        x = self._upsample(x, state)
        x = self._transformer(x, state)
        x = self._first(x, state)
        for stage in self._stages:
            x = stage(x, state)
        return self._last(x, state, elu=True)[:, 0].float()


class _DepthwiseUpsample:
    """A transposed convolution of one filter a channel, with a kernel of twice its stride."""

    def __init__(self, weight: Tensor, stride: int, dtype: torch.dtype) -> None:
        filters = weight[:, 0].T.to(dtype)  # [2 * stride, channels]
        self._now, self._then = filters[:stride].contiguous(), filters[stride:].contiguous()

    def __call__(self, x: Tensor, state: CodecState) -> Tensor:
        shifted = torch.cat([state.past(self, x[:1]), x[:-1]])
        state.pasts[id(self)] = x[-1:]
        return (x[:, None] * self._now + shifted[:, None] * self._then).flatten(0, 1)


class _Conv:
    """A causal convolution: the last inputs of a window are the first of the next."""

    def __init__(self, weight: Tensor, bias: Tensor | None, dilation: int, dtype: torch.dtype) -> None:
        self._past = (weight.shape[2] - 1) * dilation  # weight: [out, in, kernel]
        self._conv = Conv(weight, bias, dilation, dtype)

    def __call__(self, x: Tensor, state: CodecState, elu: bool = False) -> Tensor:
        """`elu`: of x first, written to where the convolution reads it."""
        longer = x.new_empty(self._past + x.shape[0], x.shape[1])
        longer[: self._past] = state.past(self, longer[: self._past])
        if elu:
            _elu(x, out=longer[self._past :])
        else:
            longer[self._past :] = x
        state.pasts[id(self)] = longer[-self._past :].clone()
        return self._conv(longer)


class _ConvTranspose:
    """A transposed convolution with a kernel of twice its stride: a convolution over two neighbours."""

    def __init__(self, weights: Weights, stride: int, dtype: torch.dtype) -> None:
        weight, bias = weights["weight"], weights["bias"]  # [in, out, 2 * stride], [out]
        now, then = weight[..., :stride], weight[..., stride:]
        both = torch.stack([then, now], -1).permute(2, 1, 0, 3)  # [stride, out, in, 2]
        self._conv = _Conv(both.flatten(0, 1), bias.repeat(stride), 1, dtype)
        self._out_dim = weight.shape[1]

    def __call__(self, x: Tensor, state: CodecState) -> Tensor:
        return self._conv(x, state, elu=True).reshape(-1, self._out_dim)


class _Stage:
    """One step up in rate: ELU, transposed convolution, residual blocks."""

    def __init__(self, weights: Weights, stride: int, dilations: Sequence[int], dtype: torch.dtype) -> None:
        self._up = _ConvTranspose(weights.under("up"), stride, dtype)
        self._blocks = [
            (
                _Conv(block["wide.weight"], block["wide.bias"], dilation, dtype),
                Linear(block["point.weight"][..., 0], block["point.bias"], dtype),
            )
            for block, dilation in zip(weights.series("blocks"), dilations, strict=True)
        ]

    def __call__(self, x: Tensor, state: CodecState) -> Tensor:
        x = self._up(x, state)
        for wide, point in self._blocks:
            x = point(F.elu_(wide(x, state, elu=True)), residual=x)
        return x


class Transformer:
    """A causal transformer that sees `context` positions, with a learnt scale on each of its updates."""

    def __init__(self, weights: Weights, geometry: TransformerGeometry, dtype: torch.dtype) -> None:
        self._geometry = geometry
        self._dtype = dtype
        enter, leave = weights.get("enter.weight"), weights.get("leave.weight")
        self._enter = None if enter is None else Linear(enter, None, dtype)
        self._leave = None if leave is None else Linear(leave, None, dtype)
        self._layers = [_TransformerLayer(layer, geometry, dtype) for layer in weights.series("layers")]

    def __call__(self, x: Tensor, state: CodecState) -> Tensor:
        if self._enter is not None:
            x = self._enter(x)
        length = x.shape[0]
        positions = torch.arange(state.position, state.position + length, device=x.device)
        angles = rotary_angles(positions, self._geometry.head_dim, self._geometry.rope_period)
        context = self._geometry.context or state.position + length
        first_key = max(0, state.position - (context - 1))
        keys = torch.arange(first_key, state.position + length, device=x.device)
        ages = positions[:, None] - keys
        seen = (ages >= 0) & (ages < context)
        state.position += length
        x = x.float()
        for layer in self._layers:
            x = layer(x, angles, seen, context - 1, state)
        x = x.to(self._dtype)
        return x if self._leave is None else self._leave(x)


class _TransformerLayer:
    def __init__(self, weights: Weights, geometry: TransformerGeometry, dtype: torch.dtype) -> None:
        self._dtype = dtype
        self._heads = geometry.num_heads, geometry.num_kv_heads, geometry.head_dim
        self._attention_norm = weights["attention_norm.weight"].float(), weights["attention_norm.bias"].float()
        self._qkv = Linear(weights["qkv.weight"], None, dtype)
        # The scale of an update is a scale of its rows: folded into the layer before it.
        self._out = Linear(weights["out.weight"] * weights["attention_scale"][:, None], None, dtype)
        self._feedforward_norm = weights["feedforward_norm.weight"].float(), weights["feedforward_norm.bias"].float()
        self._widen = Linear(weights["widen.weight"], None, dtype, "gelu")
        self._narrow = Linear(weights["narrow.weight"] * weights["feedforward_scale"][:, None], None, dtype)

    def __call__(
        self, x: Tensor, angles: tuple[Tensor, Tensor], seen: Tensor, num_kept: int, state: CodecState
    ) -> Tensor:
        heads, kv_heads, head_dim = self._heads
        normed = F.layer_norm(x, x.shape[-1:], *self._attention_norm, _NORM_EPS)
        parts = self._qkv(normed).unflatten(-1, (-1, head_dim)).transpose(0, 1)
        q, k, v = parts.split([heads, kv_heads, kv_heads])
        q, k = rotate(q.float(), angles).to(self._dtype), rotate(k.float(), angles).to(self._dtype)
        past = state.cached.get(id(self))
        if past is not None:
            k, v = torch.cat([past[0], k], 1), torch.cat([past[1], v], 1)
        k, v = k[:, -seen.shape[1] :], v[:, -seen.shape[1] :]
        state.cached[id(self)] = k[:, -num_kept:].clone(), v[:, -num_kept:].clone()
        attended = F.scaled_dot_product_attention(
            q[None], k[None], v[None], attn_mask=seen, enable_gqa=heads != kv_heads
        )
        x = x + self._out(attended[0].transpose(0, 1).flatten(1)).float()
        normed = F.layer_norm(x, x.shape[-1:], *self._feedforward_norm, _NORM_EPS)
        return x + self._narrow(self._widen(normed)).float()
