"""The claims of docs/eos.md: what share of simulated utterances ends where it should, by the defaults and without."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

from benchmarks.bench_eos import SETTINGS
from benchmarks.eos_simulation import (
    EOS,
    STARVED,
    WEAK,
    Shares,
    Utterances,
    World,
    count_shares,
    default_sampling,
    draw,
    score_step,
    speak,
    trace,
)
from tests.conftest import ROOT

pytestmark = pytest.mark.codec

DEFAULT, OFF = "scale 4, the default", "no boost, top-k 50"


@pytest.fixture(scope="module")
def utterances() -> Utterances:
    return draw(World(), 1000)


@pytest.fixture(scope="module")
def shares(utterances) -> dict[str, Shares]:
    found = {}
    for name in (DEFAULT, OFF):
        changes, kind = SETTINGS[name]
        found[name] = count_shares(utterances, speak(utterances, default_sampling() | changes, kind))
    return found


def read_documented() -> dict[str, list[float]]:
    """The rows of the doc's first table: what a setting's shares are, in per cent."""
    text = (ROOT / "docs" / "eos.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", text, re.MULTILINE)
    return {name: [float(figure) for figure in figures] for name, *figures in rows if name in SETTINGS}


def test_the_doc_has_a_row_for_each_setting():
    assert list(read_documented()) == list(SETTINGS)


@pytest.mark.parametrize("name", [DEFAULT, OFF])
def test_the_shares_are_those_of_the_doc(shares, name):
    """Half a point is five utterances: other releases of torch and numpy may round otherwise."""
    assert list(shares[name]) == pytest.approx(read_documented()[name], abs=0.5)


def test_the_boost_ends_most_of_what_was_missed_and_cuts_hardly_more(shares):
    boosted, off = shares[DEFAULT], shares[OFF]
    assert boosted.within > off.within + 30
    assert boosted.cap < off.cap / 3
    assert boosted.early < off.early + 2


def test_the_ranks_that_the_boost_sees_are_those_drawn(utterances):
    rows = np.arange(200)
    for step in (0, 40, 150):
        scores = score_step(utterances, rows, step)
        assert np.array_equal((scores[:, :EOS] > scores[:, EOS:]).sum(1).numpy(), utterances.ranks[rows, step])
        assert torch.equal(scores[:, :EOS], scores[:, :EOS].sort(dim=1, descending=True).values)


def test_what_is_starved_runs_to_the_cap_whatever_the_boost(utterances):
    starved = np.flatnonzero(utterances.kinds == STARVED)[:3]
    for row in starved:
        one = trace(utterances, int(row), default_sampling())
        assert one.end == len(one.values)
        assert min(one.values[utterances.true_ends[row] + 5 :]) >= 1000


def test_an_utterance_ends_alone_as_it_does_among_others(utterances):
    outcome = speak(utterances, default_sampling())
    for row in np.flatnonzero(utterances.kinds == WEAK)[:5]:
        one = trace(utterances, int(row), default_sampling())
        assert (one.end, one.armed_at) == (outcome.ends[row], outcome.armed_at[row])
