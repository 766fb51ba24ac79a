"""`benchmarks/tune_eos.py`: what it says of traces whose ends under other figures are worked out by hand."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.tune_eos import NO_FALL, Fall, main, moved, read_traces, recommend, replay
from pipeline.engines.base import EosTrace
from pipeline.engines.eos import StopRule

FALLS = Fall(near=4.0, fall=1.0, near_frames=3, share=1.0)

# Threshold -4, 10 frames expected; the logits by frame, and by hand the end as it was, with the threshold 1 lower, 1
# higher, and 1 higher with the fall above (near is then above -7; it falls to -4, -5 on the first two frames after it).
TAKES = {
    "clear": ([-9.0] * 12 + [3.0] * 8, (12, 12, 12, 12)),
    "a slow rise": ([-9.0] * 10 + [-6.0, -4.5, -3.8, -3.5] + [-3.2] * 6, (12, 11, None, 13)),
    "a peak": ([-9.0] * 10 + [-3.5] * 3 + [-9.0] * 7, (10, 10, None, 19)),
    "a dip in mid-speech": ([-9.0] * 7 + [-4.5] + [-9.0] * 4 + [0.0] * 8, (12, 7, 12, 12)),
}


def write_traces(folder: Path) -> None:
    for number, (values, (end, *_)) in enumerate(TAKES.values()):
        rule = asdict(StopRule(-4.0, 6, 7, 40)) | {"expected": 10}
        trace = EosTrace("logit", 12.5, tuple(values), end, rule)
        path = folder / "takes" / "ab" / f"ab{number}.0.eos.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(trace.as_dict()))


def test_takes_end_where_it_was_worked_out_by_hand(tmp_path):
    write_traces(tmp_path)
    takes, left_out = read_traces([tmp_path])
    assert not left_out
    played = [replay(takes), *(replay(takes, *how) for how in ((NO_FALL, -1.0), (NO_FALL, 1.0), (FALLS, 1.0)))]
    assert [*zip(*played, strict=True)] == [by_hand for _, by_hand in TAKES.values()]
    earlier, later, unseen = moved(takes, replay(takes, raised_by=-1.0))
    assert (earlier, later, unseen) == ([pytest.approx(0.08), pytest.approx(0.4)], [], 0)


def test_what_is_recommended_ends_no_take_early(tmp_path):
    write_traces(tmp_path)
    takes, _ = read_traces([tmp_path])
    best, num_ended = recommend(takes, near_frames=3, share=1.0)
    assert best is not None
    assert num_ended > 0
    assert replay(takes, best) == [take.end for take in takes]
    assert recommend([take for take in takes if take.logits[-1] == 3.0], 3, 1.0) == (None, 0), "nothing is missed"


def test_it_prints_what_it_saw_and_what_it_could_not_see(tmp_path, capsys):
    write_traces(tmp_path)
    ranks = EosTrace("rank", 12.5, (150.0, 3.0), 1, {})
    (tmp_path / "takes" / "ab" / "rank.0.eos.json").write_text(json.dumps(ranks.as_dict()))
    assert main([str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "1 takes measured by rank are left out." in said
    assert "4 takes, 80 frames, 7 of a take after its end." in said
    assert "record with --frames-after-eos 25" in said
    assert "4 takes say little" in said
    assert main([str(tmp_path / "nothing")]) == 1
