"""Simulated utterances of a model with a codec vocabulary: the rank of EOS by step, and what `RankBoost` makes of it.

No weights: the ranks are drawn as a field report describes them (docs/eos.md says from where each number is), the
scores of the other tokens from a distribution of one's choice; `boost_rule`, `RankBoost` and `choose_tokens` are the
product's own. All that is random is drawn once a world, so settings are compared on the same utterances and draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pipeline.engines.codec_tokens import boost_rule, choose_tokens
from pipeline.engines.eos import RankBoost
from pipeline.profile import read_profile

FRAMES_PER_SECOND = 12.5
NUM_CODES = 2048
EOS = NUM_CODES
"""The codes come first, the best of a step at 0: which code it is makes no difference to the end of speech."""
CLEAR, WEAK, STARVED = range(3)
WITHIN_S = 0.5

Numbers = np.ndarray
Sampling = Mapping[str, float]
"""Figures of a codec engine's profile, by their names there."""


class World(NamedTuple):
    """What is assumed of a model. Ranks count the tokens that score higher than end of speech."""

    clear: float = 0.5
    """The share of utterances at whose end EOS comes to the top, to be sampled."""
    weak: float = 0.45
    """The share at whose end its rank only dips. The others are starved: no dip, then a rank of 1,500 and more."""
    speech_ranks: tuple[float, float] = (150, 700)
    """In mid-speech, 95% of them; the logarithm is normal, and drifts (0.6 of it stays from step to step)."""
    dip_rank: float = 45
    """At a weak end, the median of utterances. The logarithm's standard deviation is 0.25, and 0.15 between steps."""
    dip_steps: tuple[int, int] = (5, 12)
    """How long a weak end lasts, from 3 to 0 steps before the true one. After it EOS is starved."""
    passing_per_s: float = 0.3
    """Passing dips in mid-speech, which reach a rank of 15 to 120, two thirds of them 60."""
    passing_steps: tuple[int, int] = (1, 2)
    long_passing: float = 0.0
    """The share of passing dips that last 3 to 5 steps: a pause that sounds like an end."""
    starving_steps: float = 4
    """From a missed end until the rank is 1,500 and more."""
    pace_error: float = 0.25
    """The expected length is off by up to this share, either way, for how fast a voice speaks."""
    shape: str = "normal"
    """Of the codes' scores on a step: `normal` or `gumbel`."""
    spread: float = 3.0
    """Its standard deviation or scale, give or take 15% from step to step."""
    climb: float = 0.0
    """What the best code gains on each of the ten steps from the true end on."""


class Utterances(NamedTuple):
    """What is drawn of a world: `[num]`, and by step `[num, num_steps]`."""

    world: World
    kinds: Numbers
    true_ends: Numbers
    """The step on which a good narrator's model would choose EOS."""
    num_tokens: Numbers
    """Of the text."""
    ranks: Numbers
    leads: Numbers
    """How far EOS is above the best code where its rank is 0."""
    steps_scores: Numbers
    """Which row of `scores` a step has."""
    keys: Tensor
    scores: Tensor
    """Of the codes, best first, and a column for EOS: `[num_rows, NUM_CODES + 1]`."""


class Outcome(NamedTuple):
    ends: Numbers
    """The step on which EOS was chosen, or the budget."""
    has_ended: Numbers
    armed_at: Numbers


class Shares(NamedTuple):
    """In per cent of utterances: ended within half a second of the true end, before, after, not at all."""

    within: float
    early: float
    late: float
    cap: float


def default_sampling() -> dict[str, float]:
    return {name: value for name, value in read_profile(None).engines.csm if isinstance(value, int | float)}


def draw(world: World, num: int = 1000, seed: int = 1) -> Utterances:
    """Draw utterances of 1 to 15 s."""
    rng = np.random.default_rng(seed)
    sampling = default_sampling()
    kinds = rng.choice(3, num, p=(world.clear, world.weak, 1 - world.clear - world.weak))
    seconds = rng.uniform(1, 15, num)
    true_ends = np.rint(seconds * FRAMES_PER_SECOND).astype(int)
    pace = sampling["tokens_per_second"] * rng.uniform(1 - world.pace_error, 1 + world.pace_error, num)
    num_tokens = np.maximum(1, np.rint(seconds * pace)).astype(int)
    rules = [boost_rule(sampling, int(tokens), 10**6, FRAMES_PER_SECOND) for tokens in num_tokens]
    shape = num, max(rule.budget for rule in rules)
    ranks = _draw_speech(world, shape, rng)
    for row, (kind, end) in enumerate(zip(kinds, true_ends, strict=True)):
        _draw_end(world, kind, end, ranks[row], rng)
    return Utterances(
        world, kinds, true_ends, num_tokens, np.clip(np.rint(ranks), 0, NUM_CODES - 1).astype(int),
        leads=rng.uniform(2, 8, shape), steps_scores=rng.integers(0, 1024, shape),
        keys=torch.from_numpy(rng.integers(-(2**63), 2**63 - 1, shape)), scores=_draw_scores(world, rng),
    )  # fmt: skip


def _draw_speech(world: World, shape: tuple[int, int], rng: np.random.Generator) -> Numbers:
    """Mid-speech without end: ranks that drift, and passing dips."""
    low, high = np.log(world.speech_ranks)
    noise = rng.standard_normal(shape)
    for step in range(1, shape[1]):
        noise[:, step] = 0.6 * noise[:, step - 1] + 0.8 * noise[:, step]
    ranks = np.exp((low + high) / 2 + (high - low) / 4 * noise)
    for row, step in np.argwhere(rng.random(shape) < world.passing_per_s / FRAMES_PER_SECOND):
        bounds = (3, 5) if rng.random() < world.long_passing else world.passing_steps
        length = rng.integers(bounds[0], bounds[1] + 1)
        dip = ranks[row, step : step + length]
        dip[:] = np.minimum(dip, np.exp(rng.uniform(np.log(15), np.log(120))))
    return ranks


def _draw_end(world: World, kind: int, end: int, ranks: Numbers, rng: np.random.Generator) -> None:
    """Write an utterance's end into its ranks, and what comes after it."""
    dip = 0
    if kind == CLEAR:
        end -= rng.integers(0, 2)
        dip = rng.integers(4, 9)
        ranks[end : end + dip] = rng.choice([0, 0, 0, 1], len(ranks[end : end + dip]))
        ranks[max(0, end - 1) : end] = world.dip_rank
    elif kind == WEAK:
        end = max(0, end - rng.integers(0, 4))
        dip = rng.integers(world.dip_steps[0], world.dip_steps[1] + 1)
        level = np.log(world.dip_rank) + 0.25 * rng.standard_normal()
        ranks[end : end + dip] = np.exp(level + 0.15 * rng.standard_normal(len(ranks[end : end + dip])))
    babble = ranks[end + dip :]
    starved = np.minimum(1, np.arange(1, len(babble) + 1) / world.starving_steps)
    babble[:] = np.exp(np.log(babble) * (1 - starved) + np.log(rng.uniform(1500, 1900, len(babble))) * starved)


def _draw_scores(world: World, rng: np.random.Generator, num_rows: int = 1024) -> Tensor:
    make = {"normal": rng.standard_normal, "gumbel": lambda shape: rng.gumbel(size=shape)}[world.shape]
    spread = world.spread * rng.uniform(0.85, 1.15, (num_rows, 1))
    scores = torch.from_numpy(make((num_rows, NUM_CODES)) * spread).float().sort(dim=1, descending=True).values
    return torch.cat([scores, torch.zeros(num_rows, 1)], 1)


def score_step(utterances: Utterances, rows: Numbers, step: int) -> Tensor:
    """The scores of a step of these utterances, EOS at its rank: `[num_rows, NUM_CODES + 1]`."""
    scores = utterances.scores[torch.from_numpy(utterances.steps_scores[rows, step])]
    ranks = torch.from_numpy(utterances.ranks[rows, step])[:, None]
    since_end = np.clip(step - utterances.true_ends[rows], 0, 10)
    scores[:, 0] += torch.from_numpy(utterances.world.climb * since_end).float()
    above, below = scores.gather(1, (ranks - 1).clamp(min=0)), scores.gather(1, ranks)
    at_top = scores[:, :1] + torch.from_numpy(utterances.leads[rows, step]).float()[:, None]
    scores[:, EOS:] = torch.where(ranks == 0, at_top, (above + below) / 2)
    return scores


def speak(utterances: Utterances, sampling: Sampling, kind: type[RankBoost] = RankBoost, batch: int = 500) -> Outcome:
    """Let the utterances be spoken by a profile's figures, in batches of rows that end alone."""
    num = len(utterances.true_ends)
    parts = [
        _speak_batch(utterances, np.arange(at, min(num, at + batch)), sampling, kind) for at in range(0, num, batch)
    ]
    return Outcome(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _speak_batch(utterances: Utterances, who: Numbers, sampling: Sampling, kind: type[RankBoost]) -> Outcome:
    boost = kind(len(who), EOS, torch.device("cpu"))
    for slot, tokens in enumerate(utterances.num_tokens[who]):
        boost.begin(slot, boost_rule(sampling, int(tokens), utterances.ranks.shape[1], FRAMES_PER_SECOND))
    rows, step, top_k = torch.arange(len(who)), 0, int(sampling["top_k"])
    reachable = torch.tensor([*range(top_k), EOS])
    while len(rows):
        live = who[rows.numpy()]
        lifted = boost.lift(rows, score_step(utterances, live, step))
        keys = utterances.keys[torch.from_numpy(live), step]
        chosen = choose_tokens(lifted[:, reachable], sampling["temperature"], top_k, keys)
        rows, step = rows[~boost.count(rows, chosen == top_k)], step + 1
    made, _, has_ended = zip(*boost.state(slice(0, len(who))), strict=True)
    return Outcome(np.array(made) - np.array(has_ended), np.array(has_ended), boost.armed_at.numpy())


def count_shares(utterances: Utterances, outcome: Outcome, kind: int | None = None) -> Shares:
    """What came of the utterances, or of those of a kind."""
    off = (outcome.ends - utterances.true_ends) / FRAMES_PER_SECOND
    ended, mask = outcome.has_ended, (utterances.kinds == kind) if kind is not None else np.ones(len(off), bool)
    columns = ended & (abs(off) <= WITHIN_S), ended & (off < -WITHIN_S), ended & (off > WITHIN_S), ~ended
    return Shares(*(100 * float(column[mask].mean()) for column in columns))


class Trace(NamedTuple):
    """A row's end of speech by step: `values` are its ranks, or what else the measure is. -1: unknown, or never."""

    measure: str
    values: list[float]
    end: int
    """The step on which it ended, or its budget."""
    margins: Sequence[tuple[float, float]] = ()
    """How far EOS is above the best code, before and after the boost."""
    armed_at: int = -1
    true_end: int = -1


def trace(utterances: Utterances, row: int, sampling: Sampling) -> Trace:
    """Let one utterance be spoken, and watch."""
    seen: list[tuple[float, float, float]] = []

    class WatchedBoost(RankBoost):
        def lift(self, rows: slice | Tensor, scores: Tensor) -> Tensor:
            best, before = float(scores[0, :EOS].max()), float(scores[0, EOS])
            lifted = super().lift(rows, scores)
            seen.append((float(self.ranks[rows][0]), before - best, float(lifted[0, EOS]) - best))
            return lifted

    outcome = _speak_batch(utterances, np.array([row]), sampling, WatchedBoost)
    margins = [(before, after) for _, before, after in seen]
    return Trace("rank", [rank for rank, _, _ in seen], int(outcome.ends[0]), margins, int(outcome.armed_at[0]))


class CumulativeBoost(RankBoost):
    """The other reading of the field report: each step's lift is added to those before it (4, 12, 24 for 4, 8, 12)."""

    def lift(self, rows: slice | Tensor, scores: Tensor) -> Tensor:
        armed_at, scale = self.armed_at[rows], self._rules[rows, 3]
        since = torch.where(armed_at >= 0, self.num_steps[rows] - armed_at, 1)
        self._rules[rows, 3] = scale * (since + 1) / 2
        lifted = super().lift(rows, scores)
        self._rules[rows, 3] = scale
        return lifted
