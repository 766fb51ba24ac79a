"""The rank boost: each row arms, boosts and ends at the step worked out by hand, alone and among others."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LogitsProcessorList, StoppingCriteriaList

from pipeline.engines.eos import BoostRule, RankBoost

VOCABULARY, EOS = 512, 300
RULE = BoostRule(trigger_rank=60, trigger_steps=3, earliest_step=10, scale=4.0, budget=30)
FAR = 200


def scores_of(rank: int, lead: float = 10.0) -> torch.Tensor:
    """Scores of one step: end of speech has this rank, and the best token is `lead` above it."""
    scores = torch.full((VOCABULARY,), -5.0)
    others = [token for token in range(VOCABULARY) if token != EOS]
    scores[others[:rank]] = torch.linspace(lead, 0.5, rank) if rank else 0.0
    scores[EOS] = 0.0
    return scores


# Ranks by step, the lead of the best token, and by hand: when it is armed, when it ends, and whether by end of speech.
SCRIPTS = {
    "no dip": ([FAR] * 30, 10.0, (-1, 30, False)),
    "a dip of two steps": ([FAR] * 12 + [40] * 2 + [FAR] * 16, 10.0, (-1, 30, False)),
    "two dips of two": ([FAR] * 12 + [40, 40, FAR, 40, 40] + [FAR] * 13, 10.0, (-1, 30, False)),
    "rank 60 is no dip": ([FAR] * 12 + [60] * 18, 10.0, (-1, 30, False)),
    "three too early": ([FAR] * 6 + [40] * 3 + [FAR] * 21, 10.0, (-1, 30, False)),
    "begun before half-way": ([FAR] * 8 + [40] * 3 + [FAR] * 19, 10.0, (-1, 30, False)),
    "long, begun before half-way": ([FAR] * 8 + [40] * 6 + [FAR] * 16, 10.0, (12, 16, True)),
    # Armed on step 14, with 10 to make up: 4, 8, 12 on steps 15, 16, 17; the token of step 17 is the 18th.
    "three in time": ([FAR] * 12 + [40] * 3 + [FAR] * 15, 10.0, (14, 18, True)),
    "three in time, starved": ([FAR] * 12 + [40] * 3 + [FAR] * 15, 41.0, (14, 26, True)),
    "three in time, too late": ([FAR] * 12 + [40] * 3 + [FAR] * 15, 64.5, (14, 30, False)),
    "a lead of just two boosts": ([FAR] * 12 + [40] * 3 + [FAR] * 15, 8.0, (14, 17, True)),
    "three in time, just": ([FAR] * 10 + [59] * 3 + [FAR] * 17, 3.0, (12, 14, True)),
    "at the top in mid-speech": ([FAR] * 4 + [0] + [FAR] * 25, 10.0, (-1, 5, True)),
    "at the top after half-way": ([FAR] * 20 + [0] + [FAR] * 9, 10.0, (-1, 21, True)),
}


def run(names: list[str], rules: list[BoostRule]) -> list[tuple[int, int, bool]]:
    """Greedy decoding as transformers does it; what each row came to."""
    boost = RankBoost(len(names), EOS, torch.device("cpu"))
    for slot, rule in enumerate(rules):
        boost.begin(slot, rule)
    processors, criteria = LogitsProcessorList([boost]), StoppingCriteriaList([boost.ends])
    input_ids = torch.zeros(len(names), 1, dtype=torch.long)
    is_over = torch.zeros(len(names), dtype=torch.bool)
    for step in range(30):
        scores = torch.stack([scores_of(SCRIPTS[name][0][step], SCRIPTS[name][1]) for name in names])
        chosen = processors(input_ids, scores).argmax(1)
        input_ids = torch.cat([input_ids, torch.where(is_over, 0, chosen)[:, None]], 1)
        is_over = is_over | criteria(input_ids, None)
        if is_over.all():
            break
    return [
        (int(boost.armed_at[slot]), made, ended)
        for slot, (made, _, ended) in enumerate(boost.state(slice(0, len(names))))
    ]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_row_ends_at_the_step_worked_out_by_hand(name):
    assert run([name], [RULE]) == [SCRIPTS[name][2]]


def test_rows_end_alone_in_a_batch_of_sixteen():
    names = [*SCRIPTS, "no dip", "three in time"]
    assert len(names) == 16
    assert run(names, [RULE] * 16) == [SCRIPTS[name][2] for name in names]


@settings(deadline=None)
@given(st.lists(st.sampled_from(list(SCRIPTS)), min_size=1, max_size=16), st.data())
def test_no_row_knows_of_another(names, data):
    rules = [
        BoostRule(
            data.draw(st.sampled_from([1, 41, 60, 300])),
            data.draw(st.integers(1, 4)),
            data.draw(st.integers(0, 20)),
            data.draw(st.sampled_from([0.0, 1.0, 4.0])),
            data.draw(st.integers(1, 30)),
        )
        for _ in names
    ]
    alone = [run([name], [rule])[0] for name, rule in zip(names, rules, strict=True)]
    assert run(names, rules) == alone


@settings(deadline=None)
@given(st.integers(0, 2**31), st.sampled_from([torch.float32, torch.bfloat16]))
def test_off_it_leaves_every_score_as_it_is(seed, dtype):
    boost = RankBoost(4, EOS, torch.device("cpu"))
    for slot in range(4):
        boost.begin(slot, BoostRule(600, 1, 0, 0.0, 100))
    generator = torch.Generator().manual_seed(seed)
    for _ in range(5):
        scores = torch.randn(4, VOCABULARY, generator=generator).to(dtype)
        assert torch.equal(boost(torch.zeros(4, 1, dtype=torch.long), scores), scores)
        boost.count(slice(0, 4), torch.zeros(4, dtype=torch.bool))


def test_what_is_no_number_arms_nothing():
    boost = RankBoost(1, EOS, torch.device("cpu"))
    boost.begin(0, BoostRule(60, 1, 0, 4.0, 10))
    boost(torch.zeros(1, 1, dtype=torch.long), torch.full((1, VOCABULARY), torch.nan))
    assert boost.armed_at.tolist() == [-1]


def test_a_suppressed_token_is_above_nothing():
    """Qwen3-TTS suppresses most of its last 1,024 ids: they have no place in a rank."""
    boost = RankBoost(1, EOS, torch.device("cpu"))
    boost.begin(0, BoostRule(60, 1, 0, 4.0, 10))
    scores = scores_of(40)[None]
    scores[0, 400:] = -torch.inf
    boost(torch.zeros(1, 1, dtype=torch.long), scores)
    assert boost.ranks.tolist() == [40]


def test_a_slot_is_used_again():
    boost = RankBoost(2, EOS, torch.device("cpu"))
    rows = torch.tensor([1])
    for _ in range(2):
        boost.begin(1, RULE)
        for _ in range(13):
            scores = boost.lift(rows, scores_of(40)[None])
            boost.count(rows, torch.zeros(1, dtype=torch.bool))
        assert (boost.armed_at.tolist(), boost.state(rows)) == ([-1, 12], [(13, False, False)])
        assert scores.argmax(1).tolist() != [EOS]
        assert boost.count(rows, torch.ones(1, dtype=torch.bool)).tolist() == [True]
