"""What the engines of models with a codec vocabulary share: how a token is chosen, and when a row may end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import torch
from torch import Tensor

from pipeline.engines.base import EosTrace
from pipeline.engines.eos import BoostRule, RankBoost

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
        trigger_rank=sampling.get("eos_rank", 0),
        trigger_steps=int(sampling.get("eos_steps", 1)),
        earliest_step=math.ceil(expected * sampling.get("eos_from_share", 0)),
        scale=sampling.get("eos_scale", 0),
        budget=min(budget, math.ceil(cap)),
        expected=expected,
    )


def rank_trace(
    boost: RankBoost, slot: int, rule: BoostRule, ranks: Sequence[Tensor], has_ended: bool, frames_per_second: float
) -> EosTrace:
    """What a row's end of speech was judged by: its rank on each step that counts, the one that ended it included."""
    armed_at = int(boost.armed_at[slot])
    figures = asdict(rule) | {"armed_at": armed_at if armed_at >= 0 else None}
    values = tuple(float(rank) for rank in torch.stack([*ranks]).tolist())
    return EosTrace("rank", frames_per_second, values, len(values) - 1 if has_ended else None, figures)


def draw_keys(seed: int, num_frames: int, num_codebooks: int) -> Tensor:
    """What a row's choices are drawn from, a number for each of its tokens: `[num_frames, num_codebooks]`, on the CPU.

    From its seed alone, so that they are the same in any batch and on every device.
    """
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-(2**63), 2**63 - 1, (num_frames, num_codebooks), generator=generator)


def choose_tokens(scores: Tensor, temperature: float, top_k: int, keys: Tensor) -> Tensor:
    """One token a row, `[num_rows]`, of the `top_k` best of its scores, `[num_rows, vocabulary]`; at temperature 0, the
    best.

    The same shares as `torch.multinomial` gives, which draws for all rows from one generator: each token's score gets
    Gumbel noise of its own, by the row's key, and the highest is taken. So the last bits of the scores, which depend
    on the batch, hardly ever matter; to take a token by its place among the summed shares, they do once in some
    thousand draws.
    """
    if temperature == 0:
        return scores.argmax(1)
    best, tokens = scores.topk(min(top_k, scores.shape[1]), dim=1)
    uniform = _uniforms(keys.to(tokens.device)[:, None], tokens)
    noisy = best.to(uniform.dtype) / temperature - torch.log(-torch.log(uniform))
    return tokens.gather(1, noisy.argmax(1, keepdim=True))[:, 0]


def _uniforms(keys: Tensor, tokens: Tensor) -> Tensor:
    """A number between 0 and 1 for each pair, by the finalizer of splitmix64 (Steele, Lea and Flood, 2014)."""
    bits = keys + tokens * -0x61C8864680B583EB
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        bits = (bits ^ _shifted(bits, shift)) * factor
    bits = bits ^ _shifted(bits, 31)
    if bits.device.type == "mps":  # which has no doubles
        return (_shifted(bits, 41).float() + 0.5) / 2**23
    return (_shifted(bits, 12).double() + 0.5) / 2**52


def _shifted(bits: Tensor, by: int) -> Tensor:
    """To the right, with zeros: torch's own shift keeps the sign."""
    return (bits >> by) & ((1 << (64 - by)) - 1)


def choose_each(scores: Tensor, how: Sequence[tuple[float, int]], keys: Tensor) -> Tensor:
    """As `choose_tokens`, with a temperature and a `top_k` for each row: books of other profiles may share a batch."""
    if len(set(how)) == 1:
        return choose_tokens(scores, *how[0], keys)
    chosen = torch.zeros(len(scores), dtype=torch.long, device=scores.device)
    for temperature, top_k in set(how):
        rows = [row for row, one in enumerate(how) if one == (temperature, top_k)]
        chosen[rows] = choose_tokens(scores[rows], temperature, top_k, keys[rows])
    return chosen
