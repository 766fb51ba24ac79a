"""When rows end: as in a loop over one row at a time; and in the engine one that never ends costs only itself."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.engines.base import RawTake, Request
from pipeline.engines.eos import EndOfSpeech, StopRule
from pipeline.engines.pocket.engine import PocketEngine
from pipeline.engines.pocket.model import open_model
from pipeline.voices import Voice
from tests.engines.pocket.conftest import MakeTiny, kyutai_voice, open_engine, requests_of, speak

pytestmark = [pytest.mark.pocket, pytest.mark.usefixtures("one_thread")]

RULES = st.builds(
    StopRule,
    threshold=st.sampled_from([-4.0, -1.0, 0.0, 1e9]),
    min_frames=st.integers(0, 7),
    tail_frames=st.integers(0, 5),
    budget=st.integers(1, 12),
)
LOGITS = st.lists(st.sampled_from([-9.0, -4.0, -3.9, -1.0, 0.0, 0.5, 8.0]), min_size=16, max_size=16)


def naive_end(rule: StopRule, logits: list[float]) -> tuple[int, bool]:
    """How many frames a row has, and whether its speech has ended: one frame after the other."""
    remaining = -1
    for frame in range(rule.budget):
        if remaining < 0 and frame >= rule.min_frames and logits[frame] > rule.threshold:
            remaining = rule.tail_frames
        elif remaining > 0:
            remaining -= 1
        if remaining == 0:
            return frame + 1, True
    return rule.budget, remaining >= 0


@given(st.lists(st.tuples(RULES, LOGITS), min_size=1, max_size=5), st.booleans())
@example([(StopRule(-4.0, 0, 0, 1), [8.0] * 16)], True)
@example([(StopRule(-4.0, 0, 3, 2), [-9.0, 8.0] + [-9.0] * 14)], False)
def test_rows_end_as_one_after_the_other(rows: list[tuple[StopRule, list[float]]], as_indices: bool) -> None:
    """Each row is asked after every frame, until it ends; the others go on."""
    stops = EndOfSpeech(len(rows), torch.device("cpu"))
    for slot, (rule, _) in enumerate(rows):
        stops.begin(slot, StopRule(-100.0, 0, 9, 99))  # what the slot's row before left there
        stops.begin(slot, rule)
    ends: dict[int, tuple[int, bool]] = {}
    for frame in range(12):
        logits = torch.tensor([logits[frame] for _, logits in rows])
        stops.update(torch.arange(len(rows)) if as_indices else slice(0, len(rows)), logits)
        for slot, (made, end, has_fired) in enumerate(stops.state(len(rows))):
            assert made == frame + 1
            if made >= end:
                ends.setdefault(slot, (end, has_fired))
    assert ends == {slot: naive_end(*row) for slot, row in enumerate(rows)}


@given(RULES, LOGITS, st.integers(1, 4))
@example(StopRule(-4.0, 0, 2, 1), [-9.0] + [8.0] * 15, 2)
def test_frames_beyond_the_end_change_nothing(rule: StopRule, logits: list[float], unread: int) -> None:
    """A row that is asked only every few frames ends as it would have, whatever was made of it since."""
    stops = EndOfSpeech(1, torch.device("cpu"))
    stops.begin(0, rule)
    made, end = 0, 1
    has_fired = False
    while made < end:
        for _ in range(unread):
            stops.update(slice(0, 1), torch.tensor(logits[made : made + 1]))
            made += 1
        _, end, has_fired = stops.state(1)[0]
    assert (end, has_fired) == naive_end(rule, logits)


@given(RULES, RULES, LOGITS, st.integers(0, 12))
def test_a_row_that_moves_takes_all_of_its_state_with_it(
    rule: StopRule, other: StopRule, logits: list[float], moved_at: int
) -> None:
    stops = EndOfSpeech(3, torch.device("cpu"))
    stops.begin(2, rule)
    stops.begin(0, other)
    at = 2
    for frame, logit in enumerate(logits[: rule.budget]):
        if frame == moved_at:
            stops.move(2, 0)
            at = 0
        stops.update(torch.tensor([at]), torch.tensor([logit]))
    made, end, has_fired = stops.state(3)[at]
    assert made == rule.budget
    assert (end, has_fired) == naive_end(rule, logits)


# In the engine

TEXTS = ("The lamp went out.", "Come in, Tom!", "Nobody had told her about the bridge.", "Well, then, we wait.")


@pytest.fixture(scope="module")
def voice(tiny: MakeTiny, tmp_path_factory: pytest.TempPathFactory) -> Voice:
    return kyutai_voice(tmp_path_factory.mktemp("voice"), tiny(flow="lsd"))


@pytest.fixture
def requests(voice: Voice) -> list[Request]:
    return requests_of(voice, TEXTS)


def test_a_row_that_never_ends_costs_its_neighbours_nothing(voice: Voice, requests: list[Request]) -> None:
    expected = speak(open_engine(voice, num_slots=4), requests)
    endless = dataclasses.replace(
        requests[1], key="endless", sampling={"temperature": 0.0, "eos_threshold": 1e9}, budget=70
    )
    takes = speak(open_engine(voice, num_slots=4), [*requests[:2], endless, *requests[2:]])
    assert (takes["endless"].stop, takes["endless"].num_frames) == ("budget", 70)
    assert len(takes["endless"].samples) == 70 * 1920
    assert [key for key in takes if key != "endless"] == list(takes)[:-1]  # nobody waited for it
    for key, take in expected.items():
        assert take.stop == "eos"
        assert takes[key].samples.tobytes() == take.samples.tobytes()


def test_a_row_has_the_tail_it_is_given(voice: Voice, requests: list[Request]) -> None:
    """And all of its frames are those it would have had with another tail."""
    usual = speak(open_engine(voice), requests)
    for tail in (0, 1, 9):
        given = [dataclasses.replace(r, sampling={**r.sampling, "frames_after_eos": tail}) for r in requests]
        for key, take in speak(open_engine(voice), given).items():
            own = 4 if len(TEXTS[int(key)].split()) <= 4 else 2
            assert take.stop == "eos"
            assert take.num_frames == usual[key].num_frames - own + tail
            length = min(len(take.samples), len(usual[key].samples))
            assert abs(take.samples[:length] - usual[key].samples[:length]).max() < 1e-5


def test_an_end_of_speech_is_not_heard_before_its_first_frame(voice: Voice, requests: list[Request]) -> None:
    """A threshold that every logit is above: the row ends at the first frame where that counts."""
    eager = {"temperature": 0.0, "eos_threshold": -1e9, "frames_after_eos": 0}
    for changed, num_frames in (({}, 7), ({"min_frames": 0}, 1), ({"min_frames": 11}, 12)):
        given = [dataclasses.replace(request, sampling=eager | changed) for request in requests]
        for take in speak(open_engine(voice), given).values():
            assert (take.stop, take.num_frames, len(take.samples)) == ("eos", num_frames, num_frames * 1920)


@pytest.mark.parametrize("budget", [1, 2, 16, 17])
def test_a_row_stops_at_its_budget(voice: Voice, requests: list[Request], budget: int) -> None:
    """Also at the first frame of all, and at both sides of the codec's window."""
    endless = [
        dataclasses.replace(request, budget=budget, sampling={"temperature": 0.0, "eos_threshold": 1e9})
        for request in requests
    ]
    for take in speak(open_engine(voice), endless).values():
        assert (take.stop, take.num_frames, len(take.samples)) == ("budget", budget, budget * 1920)


@pytest.mark.parametrize("steps_unread", [1, 4])
def test_speech_that_ends_with_its_budget_has_ended_and_one_frame_later_it_has_not(
    voice: Voice, requests: list[Request], steps_unread: int
) -> None:
    engine = open_engine(voice, num_slots=4)
    usual = speak(engine, requests)
    model = open_model(voice.options["model"])
    asked = dataclasses.replace(engine._shape, steps_unread=steps_unread)
    engine = PocketEngine(
        model.load(fetch=False), model.sampling, model.open_text(fetch=False)[1], engine._prefix_of, asked
    )
    for request in requests:
        tail = 4 if len(request.text.split()) <= 4 else 2
        until_end = usual[request.key].num_frames - tail  # the frame of its end of speech included
        for budget, stop in ((until_end, "eos"), (until_end - 1, "budget")):
            take: RawTake = speak(engine, [dataclasses.replace(request, budget=budget)])[request.key]
            assert (take.num_frames, take.stop) == (budget, stop)


def test_a_trace_says_when_and_why_a_row_ended_and_changes_nothing(voice: Voice) -> None:
    """Also of rows that move to other slots, beside rows that want none: a rule, read off the values, ends there."""
    requests = requests_of(voice, TEXTS * 2, temperature=0.5)
    # In the last slot, until it is the only row: it then moves to the first.
    requests[3] = dataclasses.replace(requests[3], sampling={"temperature": 0.0, "eos_threshold": 1e9}, budget=150)
    wanted = [dataclasses.replace(request, wants_trace=request.key != "4") for request in requests]
    usual, takes = (speak(open_engine(voice, num_slots=4), asked) for asked in (requests, wanted))
    for key, take in takes.items():
        assert take.samples.tobytes() == usual[key].samples.tobytes()
        assert usual[key].trace is None
        if key == "4":
            assert take.trace is None
            continue
        assert take.trace is not None
        rule = {name: take.trace.rule[name] for name in ("threshold", "min_frames", "tail_frames", "budget")}
        assert len(take.trace.values) == take.num_frames
        assert naive_end(StopRule(**rule), list(take.trace.values)) == (take.num_frames, take.stop == "eos")
        if take.trace.end is None:
            assert (take.stop, key) == ("budget", "3")
            assert 0.0 not in take.trace.values
        else:
            assert min(take.trace.end + 1 + rule["tail_frames"], rule["budget"]) == take.num_frames
            assert take.trace.values[take.trace.end] > rule["threshold"]


def test_a_row_whose_threshold_falls_ends_before_its_budget_and_its_neighbours_as_ever(
    voice: Voice, requests: list[Request]
) -> None:
    """At the frame that the logits of a row without an end give by hand."""
    endless = dataclasses.replace(
        requests[1], key="endless", sampling={"temperature": 0.0, "eos_threshold": 1e9}, budget=70, wants_trace=True
    )
    expected = speak(open_engine(voice, num_slots=4), [*requests, endless])
    trace = expected["endless"].trace
    assert trace is not None
    assert (trace.end, trace.rule["expected"]) == (None, round(trace.rule["expected"]))
    threshold = max(trace.values) + 0.5
    earliest = math.ceil(0.8 * trace.rule["expected"])
    assert earliest > 6
    falls_from = earliest + 3 - 1  # near enough, all of them are near
    fired_at = next(f for f in range(falls_from, 70) if trace.values[f] > threshold - 0.25 * (f - falls_from))
    assert falls_from < fired_at < 60
    falling = {
        "temperature": 0.0, "eos_threshold": threshold, "frames_after_eos": 2,
        "eos_fall": 0.25, "eos_near": 1e6, "eos_near_frames": 3, "eos_expected_share": 0.8,
    }  # fmt: skip
    takes = speak(open_engine(voice, num_slots=4), [*requests, dataclasses.replace(endless, sampling=falling)])
    ended = takes.pop("endless")
    assert ended.trace is not None
    assert (ended.stop, ended.trace.end, ended.num_frames) == ("eos", fired_at, fired_at + 3)
    assert abs(ended.samples - expected["endless"].samples[: len(ended.samples)]).max() < 1e-5
    for key, take in takes.items():
        assert take.samples.tobytes() == expected[key].samples.tobytes()
