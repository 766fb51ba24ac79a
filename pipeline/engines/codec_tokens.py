"""What the engines of models with a codec vocabulary share: how a token is chosen, and when a row may end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from pipeline.engines.eos import BoostRule

_SLOWEST_TOKENS_PER_SECOND, _SPARE_SECONDS = 0.1, 10.0
"""Of any profile: it has at least 1 token a second, and takes at most 10 times as long."""


def most_frames(num_tokens: int, frames_per_second: float) -> int:
    """The most that a text of so many tokens may take, whatever the profile says."""
    return math.ceil((num_tokens / _SLOWEST_TOKENS_PER_SECOND + _SPARE_SECONDS) * frames_per_second)


def boost_rule(sampling: Mapping[str, float], num_tokens: int, budget: int, frames_per_second: float) -> BoostRule:
    """When a row may end whose text has so many tokens, by the figures of the profile; never after `budget` frames."""
    expected = num_tokens / sampling["tokens_per_second"] * frames_per_second
    cap = expected * sampling["max_share"] + sampling["spare_seconds"] * frames_per_second
    return BoostRule(
        trigger_rank=sampling["eos_rank"],
        trigger_steps=int(sampling["eos_steps"]),
        earliest_step=math.ceil(expected * sampling["eos_from_share"]),
        scale=sampling["eos_scale"],
        budget=min(budget, math.ceil(cap)),
    )


def draw_uniforms(seed: int, num_frames: int, num_codebooks: int) -> Tensor:
    """A row's chances, one for each of its tokens: `[num_frames, num_codebooks]`, on the CPU.

    From its seed alone, so that they are the same in any batch and on every device.
    """
    return torch.rand(num_frames, num_codebooks, generator=torch.Generator().manual_seed(seed))


def choose_tokens(scores: Tensor, temperature: float, top_k: int, chances: Tensor) -> Tensor:
    """One token a row, `[num_rows]`, of scores `[num_rows, vocabulary]`: where its chance lies among the `top_k` best.

    The same shares as `torch.multinomial` gives, which takes its chances from one generator for all rows. At
    temperature 0, the best.
    """
    if temperature == 0:
        return scores.argmax(1)
    best, tokens = scores.topk(min(top_k, scores.shape[1]), dim=1)
    wide = torch.float32 if scores.device.type == "mps" else torch.float64  # which Apple's has not
    reached = torch.softmax(best.to(wide) / temperature, dim=1).cumsum(1)
    at = torch.searchsorted(reached, (chances.to(reached) * reached[:, -1])[:, None], right=True)
    return tokens.gather(1, at.clamp(max=tokens.shape[1] - 1))[:, 0]


def choose_each(scores: Tensor, how: Sequence[tuple[float, int]], chances: Tensor) -> Tensor:
    """As `choose_tokens`, with a temperature and a `top_k` for each row: books of other profiles may share a batch."""
    if len(set(how)) == 1:
        return choose_tokens(scores, *how[0], chances)
    chosen = torch.zeros(len(scores), dtype=torch.long, device=scores.device)
    for temperature, top_k in set(how):
        rows = [row for row, one in enumerate(how) if one == (temperature, top_k)]
        chosen[rows] = choose_tokens(scores[rows], temperature, top_k, chances[rows])
    return chosen
