"""The causal transformer that makes one hidden state a frame, for many rows at once.

A row's positions follow its voice's: the voice prefix is stored once, shared by all its rows, and a row's own keys
and values lie in its slot. Keys are stored rotated, so a row may move from one slot to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from pipeline.engines.pocket.geometry import TransformerGeometry
from pipeline.engines.pocket.layers import Linear, rotary_angles, rotate
from pipeline.engines.pocket.weights import Weights

_ROUND = 16
"""Lengths are padded to a multiple: a softmax's last few summands would be added in another order, and with them
the bits would change with a neighbour's length."""

_NORM_EPS = 1e-5


@dataclass(frozen=True, slots=True, eq=False)
class Prefix:
    """A voice's keys (rotated) and values, per layer `[kv_heads, num_positions padded, head_dim]`."""

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    num_positions: int

    @staticmethod
    def of(keys: Sequence[Tensor], values: Sequence[Tensor], device: torch.device) -> Prefix:
        """From `[kv_heads, num_positions, head_dim]` a layer; zeros fill up the rest, which a mask hides."""
        num_positions = keys[0].shape[1]
        padding = (0, 0, 0, -num_positions % _ROUND)

        def padded(parts: Sequence[Tensor]) -> tuple[Tensor, ...]:
            return tuple(F.pad(part.to(device, torch.float32), padding).contiguous() for part in parts)

        return Prefix(padded(keys), padded(values), num_positions)


class KeyValues:
    """Keys and values of the rows, per layer `[num_slots, kv_heads, capacity, head_dim]`, zero where nothing was."""

    def __init__(self, geometry: TransformerGeometry, num_slots: int, capacity: int, device: torch.device) -> None:
        self.capacity = -(-capacity // _ROUND) * _ROUND
        shape = (num_slots, geometry.num_kv_heads, self.capacity, geometry.head_dim)
        self.keys = [torch.zeros(shape, device=device) for _ in range(geometry.num_layers)]
        self.values = [torch.zeros(shape, device=device) for _ in range(geometry.num_layers)]

    def clear(self, slot: int) -> None:
        for store in (*self.keys, *self.values):
            store[slot] = 0

    def move(self, source: int, target: int, num_positions: int) -> None:
        for store in (*self.keys, *self.values):
            store[target, :, :num_positions] = store[source, :, :num_positions]

    def grown(self, geometry: TransformerGeometry, capacity: int) -> KeyValues:
        """A copy with room for `capacity` positions a row."""
        grown = KeyValues(geometry, self.keys[0].shape[0], capacity, self.keys[0].device)
        for old, new in zip((*self.keys, *self.values), (*grown.keys, *grown.values), strict=True):
            new[:, :, : self.capacity] = old
        return grown


class Backbone:
    def __init__(self, weights: Weights, geometry: TransformerGeometry, dtype: torch.dtype) -> None:
        self.geometry = geometry
        self._layers = [_Layer(layer, geometry, dtype) for layer in weights.series("layers")]
        self._norm = weights["norm.weight"].float(), weights["norm.bias"].float()

    def prefill(
        self, x: Tensor, lengths: Sequence[int], prefix: Prefix | None, slots: KeyValues | None, rows: Sequence[int]
    ) -> tuple[Tensor, Sequence[tuple[Tensor, Tensor]]]:
        """Read `[num_rows, longest, width]` inputs, padded on the right, into the slots `rows`.

        Returns the hidden states `[num_rows, width]` of each row's last position, and all layers' keys and values
        `[num_rows, kv_heads, longest, head_dim]`.
        """
        num_rows, longest, _ = x.shape
        start = prefix.num_positions if prefix else 0
        positions = torch.arange(start, start + longest, device=x.device)
        angles = self._angles(positions)
        unseen = torch.full((longest, longest), -torch.inf, device=x.device).triu(1)
        made = []
        for number, layer in enumerate(self._layers):
            q, k, v = layer.project(x, angles)
            made.append((k, v))
            if slots is not None:
                slots.keys[number][rows, :, :longest] = k
                slots.values[number][rows, :, :longest] = v
            x = layer.finish(x, attend(q, k, v, unseen, _shared({prefix: None} if prefix else {}, number)))
        last = x[torch.arange(num_rows, device=x.device), torch.tensor(lengths, device=x.device) - 1]
        return self._normed(last), made

    def step(
        self, x: Tensor, positions: Tensor, longest: int, slots: KeyValues, prefixes: Mapping[Prefix, Tensor | None]
    ) -> Tensor:
        """One position for each of the first `num_rows` slots: hidden states `[num_rows, width]`.

        x: `[num_rows, width]`; positions: `[num_rows]`, how many each row has behind it; longest: the most of them,
        plus one. `prefixes` gives each voice's rows as a mask `[num_rows]`, or None for all of them.
        """
        num_rows = x.shape[0]
        rows = torch.arange(num_rows, device=x.device)
        length = min(max(2 * _ROUND, -(-longest // _ROUND) * _ROUND), slots.capacity)  # as _MIN_READ
        starts = torch.zeros_like(positions)
        for prefix, mask in prefixes.items():
            starts = starts + prefix.num_positions * (1 if mask is None else mask)
        angles = self._angles((starts + positions)[:, None])
        later = torch.arange(length, device=x.device) > positions[:, None]
        unseen = torch.zeros(later.shape, device=x.device).masked_fill_(later, -torch.inf)[:, None, None, None]
        x = x[:, None]
        for number, layer in enumerate(self._layers):
            q, k, v = layer.project(x, angles)
            keys, values = slots.keys[number], slots.values[number]
            keys[rows, :, positions] = k[:, :, 0]
            values[rows, :, positions] = v[:, :, 0]
            own = keys[:num_rows, :, :length], values[:num_rows, :, :length]
            x = layer.finish(x, attend(q, *own, unseen, _shared(prefixes, number)))
        return self._normed(x[:, 0])

    def _angles(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = rotary_angles(positions, self.geometry.head_dim, self.geometry.rope_period)
        return cos.unsqueeze(-3), sin.unsqueeze(-3)  # one for all heads

    def _normed(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, x.shape[-1:], *self._norm, _NORM_EPS)


class _Layer:
    def __init__(self, weights: Weights, geometry: TransformerGeometry, dtype: torch.dtype) -> None:
        self._heads = geometry.num_heads, geometry.num_kv_heads, geometry.head_dim
        self._attention_norm = weights["attention_norm.weight"].float(), weights["attention_norm.bias"].float()
        self._qkv = Linear(weights["qkv.weight"], None, dtype)
        self._out = Linear(weights["out.weight"], None, dtype)
        self._feedforward_norm = weights["feedforward_norm.weight"].float(), weights["feedforward_norm.bias"].float()
        self._widen = Linear(weights["widen.weight"], None, dtype, "gelu")
        self._narrow = Linear(weights["narrow.weight"], None, dtype)

    def project(self, x: Tensor, angles: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Queries (scaled) and keys, both turned, and values: `[num_rows, heads, num_positions, head_dim]`, float32."""
        heads, kv_heads, head_dim = self._heads
        normed = F.layer_norm(x, x.shape[-1:], *self._attention_norm, _NORM_EPS)
        parts = self._qkv(normed).float().unflatten(-1, (-1, head_dim)).transpose(1, 2)
        q, k, v = parts.split([heads, kv_heads, kv_heads], 1)
        return rotate(q, angles).mul_(head_dim**-0.5), rotate(k, angles), v

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """The residual stream `[num_rows, num_positions, width]`, kept in float32, after attention and feedforward."""
        x = x + self._out(attended.transpose(1, 2).flatten(2)).float()
        normed = F.layer_norm(x, x.shape[-1:], *self._feedforward_norm, _NORM_EPS)
        return x + self._narrow(self._widen(normed)).float()


def attend(q: Tensor, keys: Tensor, values: Tensor, unseen: Tensor, shared: Sequence[_Shared]) -> Tensor:
    """Attention over a row's voice and its own positions, in one softmax: `[rows, heads, num_queries, head_dim]`.

    q: scaled, `[rows, heads, num_queries, head_dim]`; keys and values: `[rows, kv_heads, num_keys, head_dim]`;
    unseen: -inf where a query doesn't see a key, fitting `[rows, kv_heads, heads a kv_head, num_queries, num_keys]`.
    A voice's prefix is one matrix for all its rows: one GEMM a head.
    """
    num_rows, num_heads, num_queries, head_dim = q.shape
    kv_heads = keys.shape[1]
    q = q.reshape(num_rows, kv_heads, -1, head_dim)  # heads that share keys lie side by side
    own = q @ keys.transpose(2, 3)
    own.view(num_rows, kv_heads, -1, num_queries, keys.shape[2]).add_(unseen)
    if not shared:
        return (torch.softmax(own, -1) @ values).view(num_rows, num_heads, num_queries, head_dim)
    together = q.transpose(0, 1).reshape(kv_heads, -1, head_dim)
    of_prefix = shares_own = own
    for number, voice in enumerate(shared):
        scores = together @ voice.keys.transpose(1, 2)
        scores[..., voice.num_positions :] = -torch.inf
        scores = scores.unflatten(1, (num_rows, -1)).transpose(0, 1)
        shares = torch.softmax(torch.cat([scores, own], -1), -1)
        on_prefix, on_own = shares.split([scores.shape[-1], own.shape[-1]], -1)
        out = on_prefix.transpose(0, 1).reshape(kv_heads, -1, scores.shape[-1]) @ voice.values
        out = out.unflatten(1, (num_rows, -1)).transpose(0, 1)
        if number == 0:
            of_prefix, shares_own = out, on_own
        elif voice.rows is not None:
            here = voice.rows[:, None, None, None]
            of_prefix, shares_own = torch.where(here, out, of_prefix), torch.where(here, on_own, shares_own)
    return (of_prefix + shares_own @ values).reshape(num_rows, num_heads, num_queries, head_dim)


@dataclass(frozen=True, slots=True)
class _Shared:
    """A voice's prefix in one layer, and which rows have it: a mask `[rows]`, or None for all."""

    keys: Tensor
    values: Tensor
    num_positions: int
    rows: Tensor | None


def _shared(prefixes: Mapping[Prefix, Tensor | None], layer: int) -> list[_Shared]:
    return [_Shared(p.keys[layer], p.values[layer], p.num_positions, rows) for p, rows in prefixes.items()]
