"""What is made of a hidden state: whether speech has ended, and the next latent by the flow head."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from pipeline.engines.pocket.geometry import FlowKind
from pipeline.engines.pocket.layers import Linear
from pipeline.engines.pocket.weights import Weights

_NORM_EPS = 1e-6
_TIME_NORM_EPS = 1e-5


class Heads:
    """End of speech and the next latent, of a hidden state; small models narrow it first."""

    def __init__(self, weights: Weights, kind: FlowKind, num_steps: int, dtype: torch.dtype) -> None:
        narrow = weights.get("condition.weight")
        self._narrow = None if narrow is None else Linear(narrow, None, torch.float32)
        self._eos = Linear(weights["eos.weight"], weights["eos.bias"], torch.float32)
        self._flow = FlowHead(weights.under("flow"), kind, num_steps, dtype)

    def __call__(self, hidden: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        """Latents `[num_rows, latent_dim]` and end-of-speech logits `[num_rows]`, both float32."""
        if self._narrow is not None:
            hidden = self._narrow(hidden)
        return self._flow.sample(hidden, noise), self._eos(hidden)[:, 0]


class FlowHead:
    """An MLP with adaptive layer norms that turns noise into a latent, given a hidden state (Li et al. 2024, MAR).

    The times of a step are the same for every row and frame, so their embeddings are worked out once, here.
    """

    def __init__(self, weights: Weights, kind: FlowKind, num_steps: int, dtype: torch.dtype) -> None:
        self._kind = kind
        self._num_steps = num_steps if kind == "lsd" else 1
        self._input = Linear(weights["input.weight"], weights["input.bias"], dtype)
        times = [
            _times(weights, step / self._num_steps, (step + 1) / self._num_steps) for step in range(self._num_steps)
        ]
        self._conditions = [
            Linear(weights["condition.weight"], weights["condition.bias"] + time, dtype, "swish") for time in times
        ]
        blocks = list(weights.series("blocks"))
        final = weights.under("final")
        self._width = weights["input.weight"].shape[0]
        # All shifts, scales and gates come of the same condition: one GEMM for the whole head.
        modulations = [*(block.under("modulation") for block in blocks), final.under("modulation")]
        self._modulation = Linear(
            torch.cat([part["weight"] for part in modulations]),
            torch.cat([part["bias"] for part in modulations]),
            dtype,
        )
        self._blocks = [
            (
                (block["norm.weight"].to(dtype), block["norm.bias"].to(dtype)),
                Linear(block["fc1.weight"], block["fc1.bias"], dtype, "swish"),
                Linear(block["fc2.weight"], block["fc2.bias"], dtype),
            )
            for block in blocks
        ]
        self._output = Linear(final["output.weight"], final["output.bias"], dtype)

    def sample(self, condition: Tensor, noise: Tensor) -> Tensor:
        """The next latents `[num_rows, latent_dim]`, normalised, of hidden states and scaled noise, in float32."""
        latents = noise
        for step in range(self._num_steps):
            out = self._velocity(latents, self._conditions[step](condition)).float()
            if self._kind == "drifting":
                return out
            latents = latents + out / self._num_steps
        return latents

    def _velocity(self, latents: Tensor, condition: Tensor) -> Tensor:
        modulation = self._modulation(condition).split(self._width, -1)
        x = self._input(latents)
        for number, (norm, fc1, fc2) in enumerate(self._blocks):
            shift, scale, gate = modulation[3 * number : 3 * number + 3]
            normed = F.layer_norm(x, x.shape[-1:], *norm, _NORM_EPS)
            x = torch.addcmul(x, gate, fc2(fc1(torch.addcmul(shift, normed, scale + 1))))
        shift, scale = modulation[-2:]
        return self._output(torch.addcmul(shift, F.layer_norm(x, x.shape[-1:], None, None, _NORM_EPS), scale + 1))


def _times(weights: Weights, *times: float) -> Tensor:
    """The mean of the embeddings of a step's start and end, `[width]`; zero for heads that know no time."""
    made = []
    for embedding, time in zip(weights.series("times"), times, strict=False):
        angles = time * embedding["frequencies"].float()
        x = torch.cat([angles.cos(), angles.sin()], -1)
        x = F.linear(x, embedding["fc1.weight"].float(), embedding["fc1.bias"].float())
        x = F.linear(F.silu(x), embedding["fc2.weight"].float(), embedding["fc2.bias"].float())
        # Divided by its standard deviation without being centred: neither a layer norm nor an RMS norm.
        made.append(x * embedding["norm.weight"].float() * torch.rsqrt(x.var(-1, keepdim=True) + _TIME_NORM_EPS))
    return torch.stack(made).mean(0) if made else weights["condition.bias"].new_zeros(())
