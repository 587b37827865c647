"""Draws docs/images/programs.svg, the chart of docs/comparison.md, from the JSON files: python docs/benchmarks/chart.py

Its axis is logarithmic, as one bar would else squash the others.
"""

from __future__ import annotations

from pathlib import Path

from figures_of_programs import tasks

OUTPUT = Path(__file__).parents[1] / "images" / "programs.svg"


def main() -> None:
    """Writes the chart."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "clpix", "font.size": 9}
    rows = list(tasks())[::-1]
    figure, axes = plt.subplots(figsize=(7.5, 0.27 * len(rows) + 0.8), layout="constrained")
    colours = ["#2b83ba" if row.times >= 1 else "#d7191c" for row in rows]
    places = range(len(rows))
    axes.barh(places, [row.times - 1 for row in rows], left=1, color=colours, height=0.7)
    axes.set_yticks(places, [f"{row.task} – {row.peer}, {row.device}" for row in rows])
    axes.set_xscale("log")
    axes.axvline(1, color="black", linewidth=0.8)
    marks = [0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
    axes.set_xticks(marks, [f"{mark:g}" for mark in marks])
    axes.minorticks_off()
    axes.set(xlabel="the other's time / clpix's (right of 1: clpix is faster)", xlim=(0.3, 1000))
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(OUTPUT, metadata={"Date": None})


if __name__ == "__main__":
    main()
