"""The parts that backbone, flow head and codec are made of. Rows first, channels last, everywhere."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

Activation = Literal["none", "gelu", "swish"]


class Linear:
    """`activation(x @ weight.T + bias) + residual` for x of `[..., in]`, in the number format of the weight.

    On a CPU the weight is packed once for oneDNN and the activation runs inside its GEMM: half the time of a
    plain layer at 64 rows, a fifth where a GELU follows, and in float32 a row's bits are the same whatever the
    number of rows from two upwards (docs/performance.md).
    """

    def __init__(
        self, weight: Tensor, bias: Tensor | None, dtype: torch.dtype, activation: Activation = "none"
    ) -> None:
        self.weight = weight.to(dtype).contiguous()
        self.bias = None if bias is None else bias.to(dtype).contiguous()
        self.activation = activation
        self.out_dim, self.in_dim = weight.shape
        self._packed = _pack(self.weight)
        if self._packed is not None:
            self.weight = self.weight.new_empty(0)  # the packed copy is the only one

    def __call__(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        x = x.to(self.weight.dtype)
        if self._packed is not None:
            ops = torch.ops.mkldnn._linear_pointwise
            if residual is not None:
                return ops.binary(x, residual, self._packed, self.bias, "add")  # type: ignore[no-any-return]
            algorithm = "tanh" if self.activation == "gelu" else ""
            return ops(x, self._packed, self.bias, self.activation, [], algorithm)  # type: ignore[no-any-return]
        y = F.linear(x, self.weight, self.bias)
        if self.activation == "gelu":
            y = F.gelu(y, approximate="tanh")
        elif self.activation == "swish":
            y = F.silu(y)
        return y if residual is None else residual + y


def _pack(weight: Tensor) -> Tensor | None:
    """The weight in oneDNN's own order, or None where that isn't to be had: the packed form is faster, not needed."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return None
    try:
        packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, 64)
        torch.ops.mkldnn._linear_pointwise(weight.new_zeros(4, weight.shape[1]), packed, None, "gelu", [], "tanh")
    except (AttributeError, RuntimeError, NotImplementedError):
        return None
    return packed


class Conv:
    """A convolution without padding over `[time, channels]`: `[time - (kernel - 1) * dilation, out]`.

    On a CPU as one over an image a pixel high, whose channels lie last: oneDNN then reads it as it lies, where
    gathering the taps of each position costs as much again.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, dilation: int, dtype: torch.dtype) -> None:
        self._weight = weight.to(dtype)[:, :, None].contiguous(memory_format=torch.channels_last)
        self._bias = None if bias is None else bias.to(dtype).contiguous()
        self._dilation = [1, dilation]
        self._packed = self._pack()

    def __call__(self, x: Tensor) -> Tensor:
        image = x.T[None, :, None]
        if self._packed is None:
            y = F.conv2d(image, self._weight, self._bias, dilation=self._dilation)
        else:
            y = torch.ops.mkldnn._convolution_pointwise(
                image, self._packed, self._bias, [0, 0], [1, 1], self._dilation, 1, "none", [], ""
            )
        return y[0, :, 0].T

    def _pack(self) -> Tensor | None:
        if self._weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
            return None
        shape = [1, self._weight.shape[1], 1, 256]
        try:
            packed: Tensor = torch.ops.mkldnn._reorder_convolution_weight(
                self._weight, [0, 0], [1, 1], self._dilation, 1, shape
            )
        except (AttributeError, RuntimeError, NotImplementedError):
            return None
        return packed


def rotary_angles(positions: Tensor, head_dim: int, period: float) -> tuple[Tensor, Tensor]:
    """Cosines and sines `[..., head_dim]` for positions `[...]`, each frequency in both halves (Su et al. 2021)."""
    half = torch.arange(head_dim // 2, dtype=torch.float32, device=positions.device)
    frequencies = period ** (-2 * half / head_dim)
    angles = positions.to(torch.float32)[..., None] * frequencies
    angles = torch.cat([angles, angles], -1)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, angles: tuple[Tensor, Tensor]) -> Tensor:
    """Turn the pairs (i, i + head_dim / 2) of the last dimension by their angles."""
    first, second = x.chunk(2, -1)
    return x * angles[0] + torch.cat([-second, first], -1) * angles[1]


def interleaved_to_halves(x: Tensor, head_dim: int) -> Tensor:
    """Reorder dimension 0 of `[num_heads * head_dim, ...]` from pairs (2i, 2i + 1) to pairs (i, i + head_dim / 2).

    Kyutai's rotary embedding turns neighbours, transformers' (and ours) turns halves; queries, keys and stored
    keys all follow. Left out, every shape still fits and the sound is garbage.
    """
    return x.reshape(-1, head_dim // 2, 2, *x.shape[1:]).transpose(1, 2).reshape(x.shape)
