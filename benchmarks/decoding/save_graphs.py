"""Save the graphs that the default model makes of real texts, for the other benchmarks here.

``python benchmarks/decoding/save_graphs.py TEXTS.jsonl[.xz] graphs/ --n 1000`` reads the field
``source`` (``--field``) of the first lines and writes one ``.npz`` a text, with the words that the
model exports at each vertex, cut to ``--words-per-vertex``.
"""

from __future__ import annotations

import argparse
import json
import lzma
from pathlib import Path

from sumfit import Summarizer


def main() -> None:
    """Save the graphs."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--field", default="source")
    parser.add_argument("--n", type=int, default=1000)
    parser.add_argument("--max-words", type=int, default=8)
    parser.add_argument("--words-per-vertex", type=int, default=5)
    arguments = parser.parse_args()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    fit = Summarizer.from_pretrained()
    opened = lzma.open if arguments.texts.suffix == ".xz" else open
    n_saved = 0
    with opened(arguments.texts, "rt", encoding="utf-8") as lines:
        for line in lines:
            text = json.loads(line)[arguments.field]
            if not text.strip():
                continue
            graph = fit.graph(text, max_words=arguments.max_words)
            graph.restrict(arguments.words_per_vertex).save(
                arguments.directory / f"{n_saved:05d}.npz"
            )
            n_saved += 1
            if n_saved == arguments.n:
                break
    print(f"{n_saved} graphs in {arguments.directory}")


if __name__ == "__main__":
    main()
