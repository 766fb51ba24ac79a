"""What other figures of Pocket TTS's end of speech would have done to takes whose traces were kept.

    render-book book.epub --trace-eos --frames-after-eos 25 --output traced
    python benchmarks/tune_eos.py traced [more folders]

Each trace is replayed through the rule itself (`EndOfSpeech`), on the logits that the model made: whether speech ends
changes nothing of what it makes next. A trace ends with its take, so a long tail is what shows later ends. Misses are
seldom, and their takes refused and not kept: they are played by raising the threshold, until takes go by their end
unheard. A fall is recommended if it ends no take earlier than it ended. Exits with 1 where there is nothing to read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from pipeline.engines.eos import EndOfSpeech, StopRule

MOVES = (-4.0, -2.0, -1.0, -0.5, 0.5, 1.0, 2.0, 4.0)
"""What is added to the threshold, in logits."""

SHORT_BY = (1.0, 2.0, 4.0)
"""How far the threshold is raised to make takes miss their end."""

NEARS, FALLS = (1.0, 2.0, 3.0, 4.0), (0.1, 0.25, 0.5, 1.0)
MIN_ENDED = 0.05
"""Of the takes that miss their end, for a fall to be worth having."""

MIN_TAIL, MIN_TAKES = 10, 200
"""Frames after the end, and takes, below which little is to be learnt."""


@dataclass(frozen=True, slots=True)
class Traced:
    """One take: its logits by frame, the rule it had, the frames its text was expected to take, and where it ended."""

    logits: tuple[float, ...]
    rule: StopRule
    expected: int
    end: int
    seconds_per_frame: float


@dataclass(frozen=True, slots=True)
class Fall:
    near: float
    fall: float
    near_frames: int
    share: float

    def rule(self, take: Traced, raised_by: float = 0.0) -> StopRule:
        earliest = max(int(np.ceil(self.share * take.expected)), take.rule.min_frames)
        threshold = take.rule.threshold + raised_by
        return StopRule(
            threshold, take.rule.min_frames, 0, len(take.logits), self.fall, self.near, self.near_frames, earliest
        )


NO_FALL = Fall(0.0, 0.0, 1, 1.0)


def read_traces(folders: Sequence[Path]) -> tuple[list[Traced], Counter[str]]:
    """The traced takes of output folders that ended by a logit, and how many are left out, by why."""
    takes, left_out = [], Counter[str]()
    for path in sorted(path for folder in folders for path in folder.rglob("*.eos.json")):
        try:
            trace = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            sys.exit(f"{path} isn't a trace ({error}): remove it, or render into a new folder.")
        if trace["measure"] != "logit":
            left_out[f"measured by {trace['measure']}"] += 1
        elif trace["end"] is None:
            left_out["without an end of speech"] += 1
        else:
            rule = StopRule(trace["threshold"], trace.get("min_frames", 0), 0, len(trace["values"]))
            logits = tuple(float("nan") if value is None else value for value in trace["values"])
            takes.append(Traced(logits, rule, trace["expected"], trace["end"], 1 / trace["frames_per_second"]))
    return takes, left_out


def replay(takes: Sequence[Traced], fall: Fall = NO_FALL, raised_by: float = 0.0) -> list[int | None]:
    """The frame on which each take would have ended, or None where that isn't within its trace."""
    stops = EndOfSpeech(len(takes), torch.device("cpu"))
    logits = torch.full((max(len(take.logits) for take in takes), len(takes)), -torch.inf)
    for slot, take in enumerate(takes):
        stops.begin(slot, fall.rule(take, raised_by))
        logits[: len(take.logits), slot] = torch.tensor(take.logits)
    for frame in logits:
        stops.update(slice(0, len(takes)), frame)
    return [frame if frame >= 0 else None for frame in stops.fired_at.tolist()]


def moved(takes: Sequence[Traced], ends: Sequence[int | None]) -> tuple[list[float], list[float], int]:
    """By how many seconds takes end earlier and later than they did, and how many don't within their trace."""
    shifts = [
        (end - take.end) * take.seconds_per_frame for take, end in zip(takes, ends, strict=True) if end is not None
    ]
    return [-shift for shift in shifts if shift < 0], [shift for shift in shifts if shift > 0], ends.count(None)


def recommend(takes: Sequence[Traced], near_frames: int, share: float) -> tuple[Fall | None, int]:
    """The gentlest fall that ends most of the takes that miss their end, and none before its time; and how many."""
    missed = {raised_by: replay(takes, raised_by=raised_by) for raised_by in SHORT_BY}
    best, most = None, 0
    for fall in falls(near_frames, share):
        if any(end is None or end < take.end for take, end in zip(takes, replay(takes, fall), strict=True)):
            continue
        ended = sum(num_rescued(missed[by], replay(takes, fall, by)) for by in SHORT_BY)
        if ended > most:
            best, most = fall, ended
    return best, most


def num_rescued(without: Sequence[int | None], with_fall: Sequence[int | None]) -> int:
    return sum(a is None and b is not None for a, b in zip(without, with_fall, strict=True))


def falls(near_frames: int, share: float) -> Iterator[Fall]:
    yield from (Fall(near, fall, near_frames, share) for fall in FALLS for near in NEARS)


def seconds(values: Sequence[float]) -> str:
    """How many, their median and the most."""
    figures = (f"{np.median(values):.2f}", f"{max(values):.2f}") if values else ("-", "-")
    return f"{len(values):7} {figures[0]:>6} {figures[1]:>6}"


def percentiles(name: str, values: Sequence[float], *which: int) -> str:
    return f"{name:<52}" + "".join(f"  p{p} {np.percentile(values, p):.2f}" for p in which)


def describe(takes: Sequence[Traced]) -> Iterator[str]:
    """What the logits look like against the threshold, and the lengths against what was expected."""
    inner = [take for take in takes if take.end - 3 > take.rule.min_frames]
    tops = [max(take.logits[take.rule.min_frames : take.end - 3]) - take.rule.threshold for take in inner]
    if tops:
        yield percentiles("highest before the end's own 3 frames, from threshold", tops, 50, 90, 99, 100)
    peaks = [max(take.logits[take.end :]) - take.rule.threshold for take in takes]
    yield percentiles("highest from the end on", peaks, 0, 1, 10, 50)
    yield percentiles(
        "frames to the end, of those expected", [(t.end + 1) / max(t.expected, 1) for t in takes], 5, 50, 95
    )


def tables(takes: Sequence[Traced], near_frames: int, share: float) -> Iterator[str]:
    columns = "{:>7} median most s"
    yield f"\n{'threshold':<10}{columns.format('earlier')}   {columns.format('later')}   not in trace"
    for move in MOVES:
        earlier, later, unseen = moved(takes, replay(takes, raised_by=move))
        yield f"{move:<+10.1f}{seconds(earlier)}   {seconds(later)}   {unseen:12}"
    missed = {by: replay(takes, raised_by=by) for by in SHORT_BY}
    yield f"\nA fall after {near_frames} frames near, from {share:g} of the expected frames on; and of the takes that"
    yield "miss their end if the threshold is raised, how many it ends within their trace, and how late at the median."
    heads = "".join(f"{f'{missed[by].count(None)} miss at +{by:g}':>18}" for by in SHORT_BY)
    yield f"{'near':<5}{'fall':<5}{columns.format('earlier')}{heads}"
    for fall in falls(near_frames, share):
        earlier, _, _ = moved(takes, replay(takes, fall))
        cells = ""
        for by in SHORT_BY:
            ends = replay(takes, fall, by)
            lost = [(t, end) for t, a, end in zip(takes, missed[by], ends, strict=True) if a is None]
            late = [(end - take.end) * take.seconds_per_frame for take, end in lost if end is not None]
            cells += f"{f'{len(late)}, {np.median(late):.2f} s' if late else '0':>18}"
        yield f"{fall.near:<5.1f}{fall.fall:<5.2f}{seconds(earlier)}{cells}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Replay kept end-of-speech traces with other figures.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--near-frames", type=int, default=3, choices=range(1, 101), metavar="N")
    parser.add_argument("--share", type=float, default=1.0, help="of the expected frames")
    given = parser.parse_args(arguments)
    takes, left_out = read_traces(given.folders)
    for why, number in left_out.items():
        print(f"{number} takes {why} are left out.")
    if not takes:
        print(
            "No trace of a logit that ended: render with --trace-eos into a new folder, with a voice of Pocket TTS. "
            "Ranks are drawn by benchmarks/plot_eos.py."
        )
        return 1
    tail = int(np.median([len(take.logits) - take.end - 1 for take in takes]))
    print(f"{len(takes)} takes, {sum(len(take.logits) for take in takes)} frames, {tail} of a take after its end.")
    for line in (*describe(takes), *tables(takes, given.near_frames, given.share)):
        print(line)
    best, num_ended = recommend(takes, given.near_frames, given.share)
    num_missed = sum(replay(takes, raised_by=by).count(None) for by in SHORT_BY)
    if best is None or num_ended < MIN_ENDED * num_missed:
        print(
            f"\nNo fall ends {MIN_ENDED:.0%} of the takes that miss their end and leaves the others alone: eos_fall: 0."
        )
    else:
        print(f"\neos_fall: {best.fall:g}, eos_near: {best.near:g}, eos_near_frames: {best.near_frames}, "
              f"eos_expected_share: {best.share:g} ends {num_ended} of {num_missed} and none too early.")  # fmt: skip
    if tail < MIN_TAIL:
        print(f"Later ends can't be seen {tail} frames after the end: record with --frames-after-eos 25.")
    if len(takes) < MIN_TAKES:
        print(f"{len(takes)} takes say little: {MIN_TAKES} or more, of the voice that will read.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
