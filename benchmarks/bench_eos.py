"""When simulated utterances end, by the figures of the rank boost: the tables of docs/eos.md, and its plots.

    python -m benchmarks.bench_eos [--num 1000] [--plots docs]    # five minutes on one core

The plots need matplotlib (`pip install -e '.[plots]'`). `eos_simulation.py` says what is simulated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from benchmarks.eos_simulation import (
    CLEAR,
    FRAMES_PER_SECOND,
    STARVED,
    WEAK,
    WITHIN_S,
    CumulativeBoost,
    Shares,
    Trace,
    Utterances,
    World,
    count_shares,
    default_sampling,
    draw,
    speak,
    trace,
)
from pipeline.engines.eos import RankBoost

SETTINGS: dict[str, tuple[dict[str, float], type[RankBoost]]] = {
    "no boost, top-k 50": ({"eos_scale": 0, "top_k": 50}, RankBoost),
    "no boost, top-k 200": ({"eos_scale": 0}, RankBoost),
    "scale 3": ({"eos_scale": 3}, RankBoost),
    "scale 4, the default": ({}, RankBoost),
    "scale 5": ({"eos_scale": 5}, RankBoost),
    "scale 4, cumulative": ({}, CumulativeBoost),
}

WORLDS = {
    "as reported": World(),
    "passing dips four times as often": World(passing_per_s=0.8),
    "a fifth of them last 3 to 5 steps": World(long_passing=0.2),
    "mid-speech ranks 100 to 500": World(speech_ranks=(100, 500)),
    "weak ends dip to 60": World(dip_rank=60),
    "weak ends dip to 30": World(dip_rank=30),
    "weak ends last 3 to 6 steps": World(dip_steps=(3, 6)),
    "after a missed end EOS starves within 60 steps": World(starving_steps=60),
    "a healthy model: 99% clear ends": World(clear=0.99, weak=0.005),
    "expected length off by half": World(pace_error=0.5),
    "scores flat (normal, 2)": World(spread=2),
    "scores peaked (Gumbel, 2.5)": World(shape="gumbel", spread=2.5),
    "the best code climbs by 2 a step past the end": World(climb=2),
}

SWEEP: dict[str, dict[str, dict[str, float]]] = {
    "trigger rank / steps": {
        f"{rank} / {steps}": {"eos_rank": rank, "eos_steps": steps}
        for rank, steps in ((40, 3), (50, 3), (60, 3), (80, 3), (100, 3), (120, 3), (60, 2), (60, 4), (80, 4), (100, 4))
    },
    "ramp": {"off": {"eos_scale": 0}}
    | {f"scale {scale}": {"eos_scale": scale} for scale in (2, 3, 4, 5, 6)}
    | {"4, cumulative": {"is_cumulative": 1}},
    "from share": {f"{share:g}": {"eos_from_share": share} for share in (0.3, 0.5, 0.65, 0.8)}
    | {
        "0.65, 80 / 3": {"eos_from_share": 0.65, "eos_rank": 80},
        "0.65, 80 / 4": {"eos_from_share": 0.65, "eos_rank": 80, "eos_steps": 4},
    },
    "top-k": {f"{top_k}": {"top_k": top_k} for top_k in (50, 100, 200, 400)},
}
PLOTTED = {
    "trigger rank": ("eos_rank", (40, 50, 60, 80, 100, 120)),
    "steps": ("eos_steps", (2, 3, 4)),
    "scale": ("eos_scale", (0, 2, 3, 4, 5, 6)),
    "from share": ("eos_from_share", (0.3, 0.5, 0.65, 0.8)),
    "top-k": ("top_k", (50, 100, 200, 400)),
}
NUM_SWEPT = 400

Key = frozenset[tuple[str, float]]
"""What a setting has of its own."""


def settle(utterances: Utterances) -> dict[str, list[Shares]]:
    """Each setting's shares: of all utterances, and of those with a clear end, a weak one and none."""
    found = {}
    for name, (changes, kind) in SETTINGS.items():
        outcome = speak(utterances, default_sampling() | changes, kind)
        found[name] = [count_shares(utterances, outcome, which) for which in (None, CLEAR, WEAK, STARVED)]
    return found


def sweep(utterances: Utterances) -> dict[Key, Shares]:
    """The shares by setting."""
    default = default_sampling()
    found: dict[Key, Shares] = {}
    for changes in (changes for settings in SWEEP.values() for changes in settings.values()):
        if (key := find_key(changes)) not in found:
            kind = CumulativeBoost if "is_cumulative" in changes else RankBoost
            found[key] = count_shares(utterances, speak(utterances, default | changes, kind))
    return found


def find_key(changes: Mapping[str, float]) -> Key:
    return frozenset(changes.items()) - frozenset(default_sampling().items())


def print_table(head: list[str], rows: list[list[str]]) -> None:
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def print_settings(found: Mapping[str, list[Shares]]) -> None:
    head = [
        "",
        "within 0.5 s",
        "early",
        "late",
        "at the cap",
        "within, of clear ends",
        "of weak ends",
        "of starved ones",
    ]
    rows = [
        [name, *(f"{share:.1f}" for share in of_all), *(f"{of_kind.within:.1f}" for of_kind in of_kinds)]
        for name, (of_all, *of_kinds) in found.items()
    ]
    print_table(head, rows)


def print_sweep(found: Mapping[str, Mapping[Key, Shares]]) -> None:
    """Print, by world, each setting's share within half a second and its early ones."""
    for figure, settings in SWEEP.items():
        keys = [find_key(changes) for changes in settings.values()]
        rows = []
        for world, shares in found.items():
            best = max(shares[key].within for key in keys)
            cells = [
                (f"{shares[key].within:.1f} / {shares[key].early:.1f}", shares[key].within == best) for key in keys
            ]
            rows.append([world, *(f"**{cell}**" if is_best else cell for cell, is_best in cells)])
        print_table([figure, *settings], rows)


def plot(
    utterances: Utterances,
    settings: Mapping[str, list[Shares]],
    swept: Mapping[str, Mapping[Key, Shares]],
    folder: Path,
) -> None:
    from benchmarks.plot_eos import plot_shares, plot_traces

    lines = {
        figure: {
            world: [(value, shares[find_key({name: value})]) for value in values] for world, shares in swept.items()
        }
        for figure, (name, values) in PLOTTED.items()
    }
    plot_shares({name: of_all for name, (of_all, *_) in settings.items()}, lines, folder / "eos-shares.svg")
    plot_traces(find_examples(utterances), folder / "eos-trace.svg", default_sampling()["eos_rank"])


def find_examples(utterances: Utterances) -> dict[str, Trace]:
    """One utterance of each kind of end, the shortest from 40 steps on."""
    outcome = speak(utterances, default_sampling())
    off = (outcome.ends - utterances.true_ends) / FRAMES_PER_SECOND
    is_weak, is_armed = utterances.kinds == WEAK, outcome.armed_at >= 0
    titles = {
        "a weak end, caught": is_weak & (abs(off) <= WITHIN_S) & (outcome.ends - outcome.armed_at > 1) & is_armed,
        "a passing dip, cut early": is_armed & (off < -WITHIN_S),
        "no end: refused at the cap": (utterances.kinds == STARVED) & ~outcome.has_ended,
    }
    traces = {}
    for title, is_one in titles.items():
        rows = np.flatnonzero(is_one & (utterances.true_ends >= 40))
        row = int(rows[np.argmin(utterances.true_ends[rows])])
        traces[title] = trace(utterances, row, default_sampling())._replace(true_end=int(utterances.true_ends[row]))
    return traces


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--num", type=int, default=1000, help="utterances of the first table")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="write eos-shares.svg and eos-trace.svg")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    started = time.perf_counter()
    reported = draw(WORLDS["as reported"], arguments.num)
    settings = settle(reported)
    print_settings(settings)
    swept = {name: sweep(draw(world, min(arguments.num, NUM_SWEPT))) for name, world in WORLDS.items()}
    print_sweep(swept)
    if arguments.plots:
        plot(reported, settings, swept, arguments.plots)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
