"""Draw the learning curves of the default model's card as an SVG file.

``python docs/figures/draw_learning.py docs/figures/learning.svg``. R-Sum of constrained exact
search on 500 validation texts a set (1,000 for the first release); the card says how each model
was trained.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from sumfit.reproduction.chart import Point, chart

SETS = ("news, 60 characters", "commits, 60 characters", "papers, 80 characters")
# Millions of pairs drawn: R-Sum on newsapi, commits and arxiv.
ALL_PAIRS = {
    0.63: (27.7, 22.1, 29.5),
    1.27: (80.6, 63.3, 94.6),
    2.56: (88.1, 79.8, 104.3),
    3.84: (89.8, 83.6, 107.1),
    4.43: (90.5, 82.5, 106.9),
    18.8: (89.8, 86.6, 107.7),
}
FEWER_PAIRS = {
    "10,000": {0.12: (28.2, 23.2, 32.0), 1.5: (54.4, 44.7, 59.7)},
    "50,000": {0.79: (74.2, 68.1, 84.6), 1.6: (81.9, 70.1, 94.1)},
}


def main() -> None:
    """Draw one line a set, and what fewer pairs give."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("svg", type=Path)
    series: dict[str, list[Point]] = {}
    for place, name in enumerate(SETS):
        series[name] = [(x, scores[place]) for x, scores in ALL_PAIRS.items()]
    for n_pairs, curve in FEWER_PAIRS.items():
        series[f"{n_pairs} pairs, news"] = [(x, scores[0]) for x, scores in curve.items()]
    drawing = chart(
        "R-Sum on validation texts",
        series,
        x_label="million pairs drawn",
        y_label="R-Sum",
    )
    parser.parse_args().svg.write_text(drawing, encoding="utf-8")


if __name__ == "__main__":
    main()
