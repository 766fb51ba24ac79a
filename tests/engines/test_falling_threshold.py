"""The falling threshold: each row ends at the frame worked out by hand, alone or among others; off, it is not there."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.engines.eos import EndOfSpeech, StopRule

BUDGET = 30
FALLING = StopRule(
    threshold=-4.0, min_frames=2, tail_frames=2, budget=BUDGET, fall=0.5, near=2.0, near_frames=3, earliest_frame=10
)
FIXED = StopRule(threshold=-4.0, min_frames=2, tail_frames=2, budget=BUDGET)
FAR = -12.0

# Logits by frame (then FAR), and by hand: the frame from which the threshold falls, that of the end of speech, and how
# many frames there are.
SCRIPTS = {
    "never near": ([], (-1, -1, 30)),
    "near for two frames": ([FAR] * 12 + [-5.0] * 2, (-1, -1, 30)),
    "near for two frames, twice": ([FAR] * 12 + [-5.0, -5.0, FAR, -5.0, -5.0], (-1, -1, 30)),
    "the threshold less 2 isn't near": ([FAR] * 12 + [-6.0] * 18, (-1, -1, 30)),
    "near for three, too early": ([FAR] * 6 + [-5.0] * 3, (-1, -1, 30)),
    "near for three, begun too early": ([FAR] * 8 + [-5.0] * 3, (-1, -1, 30)),
    # Of frames 8 to 13 three count from 10 on; -12 is above -4 less 17 halves for the first time.
    "near for six, begun too early": ([FAR] * 8 + [-5.0] * 6, (12, 29, 30)),
    # It falls from frame 14 on: to -4.5, -5, -5.5 on frames 15, 16, 17.
    "near from then on": ([FAR] * 12 + [-5.0] * 18, (14, 17, 20)),
    "near, then less so": ([FAR] * 12 + [-5.0] * 3 + [-7.0] * 15, (14, 21, 24)),
    "near, far, near": ([FAR] * 12 + [-5.0] * 3 + [FAR] * 3 + [-6.5] * 12, (14, 20, 23)),
    "near too late": ([FAR] * 20 + [-5.0] * 3, (22, -1, 30)),
    "above it at the third": ([FAR] * 12 + [-5.0, -5.0, -3.0], (14, 14, 17)),
    "above it before": ([FAR] * 15 + [-3.0], (-1, 15, 18)),
    "above it in mid-speech": ([FAR] * 4 + [0.0], (-1, 4, 7)),
    "no numbers": ([math.nan] * 30, (-1, -1, 30)),
    "above all": ([math.inf] * 30, (-1, 2, 5)),
}


def run(names: list[str], rules: list[StopRule]) -> list[tuple[int, int, int]]:
    """One frame after the other for all rows; what each came to when it had all of its frames."""
    stops = EndOfSpeech(len(names), torch.device("cpu"))
    for slot, rule in enumerate(rules):
        stops.begin(slot, StopRule(-100.0, 0, 9, 99, fall=9.0, near=99.0))  # what the slot's row before left there
        stops.begin(slot, rule)
    logits = torch.tensor([(SCRIPTS[name][0] + [FAR] * BUDGET)[:BUDGET] for name in names])
    ends: dict[int, tuple[int, int, int]] = {}
    for frame in range(BUDGET):
        stops.update(slice(0, len(names)), logits[:, frame])
        for slot, (made, end, has_fired) in enumerate(stops.state(len(names))):
            fired_at = int(stops.fired_at[slot])
            assert has_fired == (fired_at >= 0)
            if made >= end:
                ends.setdefault(slot, (int(stops.falls_from[slot]), fired_at, end))
    return [ends[slot] for slot in range(len(names))]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_row_ends_at_the_frame_worked_out_by_hand(name):
    assert run([name], [FALLING]) == [SCRIPTS[name][1]]


def test_rows_end_alone_in_a_batch_of_sixteen():
    assert len(SCRIPTS) == 16
    assert run([*SCRIPTS], [FALLING] * 16) == [by_hand for _, by_hand in SCRIPTS.values()]


RULES = st.builds(
    StopRule,
    threshold=st.sampled_from([-6.0, -4.0, 0.0, 1e9]),
    min_frames=st.integers(0, 7),
    tail_frames=st.integers(0, 5),
    budget=st.integers(1, BUDGET),
    fall=st.sampled_from([0.0, 0.1, 0.5, 4.0]),
    near=st.sampled_from([0.0, 1.0, 2.0, 9.0]),
    near_frames=st.integers(1, 4),
    earliest_frame=st.integers(0, 20),
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from([*SCRIPTS]), RULES), min_size=1, max_size=16))
def test_no_row_knows_of_another_and_off_it_is_not_there(rows):
    """A rule whose threshold doesn't fall is one without its numbers, whoever's threshold falls beside it."""
    names, rules = [name for name, _ in rows], [rule for _, rule in rows]
    bare = [
        rule if rule.fall else StopRule(rule.threshold, rule.min_frames, rule.tail_frames, rule.budget)
        for rule in rules
    ]
    assert run(names, rules) == [run([name], [rule])[0] for name, rule in zip(names, bare, strict=True)]


@settings(deadline=None)
@given(st.sampled_from([*SCRIPTS]), RULES, RULES, st.integers(0, BUDGET))
def test_a_row_that_moves_takes_its_fall_with_it(name, rule, other, moved_at):
    rule = dataclasses.replace(rule, budget=BUDGET)
    [by_itself] = run([name], [rule])
    stops = EndOfSpeech(3, torch.device("cpu"))
    stops.begin(2, rule)
    stops.begin(0, other)
    at = 2
    for frame, logit in enumerate((SCRIPTS[name][0] + [FAR] * BUDGET)[: by_itself[2]]):
        if frame == moved_at:
            stops.move(2, 0)
            at = 0
        stops.update(torch.tensor([at]), torch.tensor([logit]))
    assert (int(stops.falls_from[at]), int(stops.fired_at[at]), int(stops.end[at])) == by_itself
