"""Plots of docs/eos.md, and of traces that `--trace-eos` has written beside takes.

    python -m benchmarks.plot_eos out.svg TRACE.eos.json...

Needs matplotlib: `pip install -e '.[plots]'`.
"""

from __future__ import annotations

import argparse
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from benchmarks.eos_simulation import Shares, Trace, default_sampling

# Text stays text, and a plot drawn again is the same file.
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "render-book", "font.size": 8, "axes.titlesize": 9})
mpl.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white"})
COLOURS = {"within": "#2b7a4b", "early": "#c8553d", "late": "#e0a030", "cap": "#9aa3ab"}
WORDS = {"within": "within 0.5 s", "early": "early", "late": "late", "cap": "at the cap"}

Line = Sequence[tuple[float, Shares]]


def plot_shares(settings: Mapping[str, Shares], lines: Mapping[str, Mapping[str, Line]], path: Path) -> None:
    """Draw the shares by setting, and by each figure in each world; the first world is the one that stands out."""
    figure = plt.figure(figsize=(9, 5), layout="constrained")
    bars, *panels = figure.subplot_mosaic([["bars"] * 5, list(lines)], height_ratios=(1, 1.1)).values()
    left = [0.0] * len(settings)
    for share, colour in COLOURS.items():
        widths = [getattr(shares, share) for shares in settings.values()]
        bars.barh(list(settings), widths, left=left, color=colour, label=WORDS[share])
        left = [a + b for a, b in zip(left, widths, strict=True)]
    bars.invert_yaxis()
    bars.set(xlim=(0, 100), xlabel="% of 1,000 simulated utterances")
    figure.legend(*bars.get_legend_handles_labels(), ncols=4, loc="outside upper center", frameon=False)
    for (name, by_world), panel in zip(lines.items(), panels, strict=True):
        reported, *others = by_world.values()
        values = [value for value, _ in reported]
        pale = [shares.within for line in others for _, shares in [*line, line[-1]]]
        gaps = [value for _ in others for value in [*values, float("nan")]]
        panel.plot(gaps, pale, color="#c5d8cc", linewidth=0.9)
        for share, colour in COLOURS.items():
            panel.plot(values, [getattr(shares, share) for _, shares in reported], color=colour)
        panel.axvline(_find_default(name), color="black", linewidth=0.6, linestyle=":")
        panel.set(title=name, ylim=(-2, 102))
        if name == "top-k":
            panel.set_xscale("log", base=2)
        if name in ("top-k", "scale", "steps"):
            panel.set_xticks(values, [f"{value:g}" for value in values])
        panel.label_outer()
    panels[0].set_ylabel("% (pale: other worlds,\nwithin 0.5 s)")
    _save(path)


def _find_default(figure: str) -> float:
    names = {"trigger rank": "eos_rank", "steps": "eos_steps", "scale": "eos_scale", "from share": "eos_from_share"}
    return default_sampling()[names.get(figure, "top_k")]


def plot_traces(traces: Mapping[str, Trace], path: Path, line: float | None = None) -> None:
    """Draw a column for each trace; `line` is the rank that arms, or the threshold.

    Below the ranks, where they are known, the scores before and after the boost.
    """
    num_panels = 2 if any(one.margins for one in traces.values()) else 1
    size = (3 * len(traces), 0.4 + 2.1 * num_panels)
    figure, axes = plt.subplots(
        num_panels, len(traces), figsize=size, layout="constrained", squeeze=False, sharey="row"
    )
    labelled = {}
    for column, (title, one) in enumerate(traces.items()):
        _draw_values(axes[0, column], one, line)
        axes[0, column].set_title(title)
        if num_panels == 2:
            _draw_margins(axes[1, column], one)
        axes[-1, column].set_xlabel("step (80 ms)")
        for handle, label in zip(*axes[-1, column].get_legend_handles_labels(), strict=True):
            labelled.setdefault(label, handle)
    axes[0, 0].set_ylabel("rank of EOS, best on top" if next(iter(traces.values())).measure == "rank" else "EOS logit")
    if num_panels == 2:
        axes[1, 0].set_ylabel("score of EOS less the best")
    figure.legend(labelled.values(), labelled, ncols=len(labelled), loc="outside upper center", frameon=False)
    _save(path)


def _draw_values(axis: Axes, one: Trace, line: float | None) -> None:
    axis.plot(one.values, color="#33556b", linewidth=1)
    if one.measure == "rank":
        axis.set_yscale("symlog", linthresh=10)
        axis.set_ylim(2500, 0)
        axis.set_yticks([0, 10, 60, 150, 700, 2000], ["0", "10", "60", "150", "700", "2000"], minor=False)
    if line is not None:
        axis.axhline(line, color="black", linewidth=0.6, linestyle=":")
    _mark(axis, one)


def _draw_margins(axis: Axes, one: Trace) -> None:
    axis.plot([before for before, _ in one.margins], color="#9aa3ab", linewidth=1, label="as scored")
    if one.armed_at >= 0:
        steps = range(one.armed_at, len(one.margins))
        boosted = [after for _, after in one.margins[one.armed_at :]]
        axis.plot(steps, boosted, ".-", color="#c8553d", linewidth=1.2, label="boosted")
    axis.axhline(0, color="black", linewidth=0.6, linestyle=":")
    _mark(axis, one)


def _mark(axis: Axes, one: Trace) -> None:
    marks = {"true end": (one.true_end, "#2b7a4b", "--"), "armed": (one.armed_at, "#e0a030", "-")}
    for label, (step, colour, style) in (marks | {"ended": (one.end, "#c8553d", "-")}).items():
        if step >= 0:
            axis.axvline(step, color=colour, linewidth=1, linestyle=style, label=label)


def _save(path: Path) -> None:
    """Save as SVG, to a tenth of a point: a third of the size."""
    drawn = io.StringIO()
    plt.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    plt.close()
    rounded = re.sub(r"\d+\.\d{2,}", lambda number: f"{float(number[0]):.1f}".removesuffix(".0"), drawn.getvalue())
    path.write_text(re.sub(r" *<!--.*?-->\n", "", rounded), encoding="utf-8")


def read_trace(path: Path) -> Trace:
    """Read what `--trace-eos` has written beside a take."""
    record = json.loads(path.read_text(encoding="utf-8"))
    values = [float("nan") if value is None else value for value in record["values"]]
    end = -1 if record["end"] is None else record["end"]
    return Trace(record["measure"], values, end, armed_at=-1 if record.get("armed_at") is None else record["armed_at"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("traces", type=Path, nargs="+", metavar="TRACE.eos.json")
    arguments = parser.parse_args()
    traces = {path.name.split(".")[0][:12]: read_trace(path) for path in arguments.traces}
    rule = json.loads(arguments.traces[0].read_text(encoding="utf-8"))
    plot_traces(traces, arguments.out, rule.get("trigger_rank", rule.get("threshold")))


if __name__ == "__main__":
    main()
