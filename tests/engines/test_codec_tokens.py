"""The choice of a token: the shares that sampling has, by a row's own draws, whatever the last bits are."""

from __future__ import annotations

import math

import pytest
import torch

from pipeline.engines.codec_tokens import boost_rule, choose_each, choose_tokens, draw_keys, most_frames
from pipeline.profile import CodecProfile, read_profile

NUM_DRAWS = 40_000


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_tokens_are_chosen_as_often_as_their_shares_say(temperature):
    scores = torch.tensor([2.0, -1.0, 0.5, 1.5, -torch.inf, 0.0])
    chosen = choose_tokens(scores.expand(NUM_DRAWS, -1), temperature, 6, draw_keys(3, NUM_DRAWS, 1)[:, 0])
    found = torch.bincount(chosen, minlength=6) / NUM_DRAWS
    expected = torch.softmax(scores / temperature, 0)
    assert found[4] == 0
    assert (found - expected).abs().max() < 4 * math.sqrt(0.25 / NUM_DRAWS)


def test_nothing_but_the_best_few_is_chosen():
    scores = torch.randn(500, 100, generator=torch.Generator().manual_seed(0))
    chosen = choose_tokens(scores, 2.0, 5, draw_keys(1, 500, 1)[:, 0])
    rank = (scores > scores.gather(1, chosen[:, None])).sum(1)
    assert sorted(set(rank.tolist())) == [0, 1, 2, 3, 4]


def test_the_last_bits_of_the_scores_change_no_choice():
    """As another batch would: by the place among summed shares, some of these draws would differ."""
    generator = torch.Generator().manual_seed(0)
    scores = 3 * torch.randn(20_000, 200, generator=generator)
    near = scores + 1e-6 * torch.randn(scores.shape, generator=generator)
    keys = draw_keys(5, 20_000, 1)[:, 0]
    assert torch.equal(choose_tokens(scores, 0.9, 50, keys), choose_tokens(near, 0.9, 50, keys))


def test_draws_are_a_row_s_own():
    """The same under any budget; no two rows, frames or codebooks draw alike."""
    assert torch.equal(draw_keys(7, 40, 8)[:25], draw_keys(7, 25, 8))
    keys = torch.cat([draw_keys(seed, 50, 32).flatten() for seed in range(4)])
    assert len(keys.unique()) == len(keys)
    scores = torch.zeros(len(keys), 100)
    chosen = choose_tokens(scores, 1.0, 100, keys)
    assert torch.bincount(chosen, minlength=100).min() > len(keys) / 200


def test_rows_with_other_figures_are_chosen_as_they_would_be_alone():
    scores = torch.randn(6, 50, generator=torch.Generator().manual_seed(2))
    how = [(0.0, 5), (1.0, 5), (1.0, 50), (0.3, 50), (1.0, 5), (2.0, 1)]
    keys = draw_keys(9, 6, 1)[:, 0]
    together = choose_each(scores, how, keys)
    alone = [choose_tokens(scores[i : i + 1], *how[i], keys[i : i + 1]) for i in range(6)]
    assert together.tolist() == torch.cat(alone).tolist()
    assert together[0] == scores[0].argmax()
    assert together[5] == scores[5].argmax()


def test_no_profile_asks_for_more_than_the_most():
    bounds = {"tokens_per_second": 1.0, "max_share": 10.0, "spare_seconds": 10.0}
    assert isinstance(read_profile(None).engine("csm"), CodecProfile)
    rule = boost_rule(read_profile(None).engine("csm").sampling() | bounds, 40, most_frames(40, 12.5), 12.5)
    assert rule.budget == most_frames(40, 12.5)


def test_what_says_nothing_while_the_boost_is_off_is_in_no_key():
    """So that another rank renders no book anew that has no boost."""
    profile = read_profile(None).engine("csm")
    off = [profile.model_copy(update={"eos_scale": 0.0, "eos_rank": rank}).sampling() for rank in (60, 80)]
    assert off[0] == off[1]
    assert boost_rule(off[0], 10, 500, 12.5).scale == 0
