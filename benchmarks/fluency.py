"""How natural summaries are to a left-to-right model: what ROUGE does not see.

    sumfit train recipes/dat-default.toml system=at data_dir=DATA output_dir=judge
    python benchmarks/fluency.py --data DATA --judge judge/best [--models default DIR ...]
        [--rerank neural]

The judge is an autoregressive baseline, which reads the source and scores each piece of a summary
after those before it. On every set and limit, for each model and for the references: nats per piece
(the end included), fewer being more natural, and minus the first model with a paired 95 % interval
(bootstrap over texts). What a judge finds natural is also short and plain: references, which say
what the source does not, cost it the most. So compare models with each other, not with people.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from sumfit.errors import IncompatibleModelError, SumfitError
from sumfit.evaluation.table import Cell, Table, render
from sumfit.losses.autoregressive import score_targets
from sumfit.models.autoregressive import Autoregressive, LengthInformed
from sumfit.models.checkpoint import load_network
from sumfit.reproduction.runs import EvaluationSet, ModelRunner, find_set
from sumfit.text import Tokenizer

FloatArray = npt.NDArray[np.float64]
LIMITS = ("newsapi/test=60", "commits/test=50", "arxiv/test=80")
COLUMNS = ("set", "limit", "texts of", "nats per piece", "difference", "low", "high", "pieces")
_TEXTS = 50  # of one pass through the judge


class Judge:
    """An autoregressive network that scores summaries."""

    def __init__(self, directory: Path) -> None:
        """Load it.

        Args:
            directory: A checkpoint: ``config.json``, ``model.safetensors`` and ``tokenizer.json``.

        Raises:
            IncompatibleModelError: If it is no autoregressive network, or one that is told lengths.
        """
        network = load_network(directory)
        if not isinstance(network, Autoregressive) or isinstance(network, LengthInformed):
            raise IncompatibleModelError(
                f"{directory} is of system {network.system}, which cannot judge; "
                "give a checkpoint of sumfit train RECIPE system=at"
            )
        self._network = network.float()
        self._tokenizer = Tokenizer.from_file(directory / "tokenizer.json")

    @torch.no_grad()
    def costs(self, sources: Sequence[str], summaries: Sequence[str]) -> FloatArray:
        """Score summaries.

        Args:
            sources: N texts.
            summaries: A summary of each.

        Returns:
            ``(N, 2)`` nats and pieces of each, the end included.
        """
        network = self._network
        found = [np.zeros((0, 2))]
        for start in range(0, len(sources), _TEXTS):
            part = slice(start, start + _TEXTS)
            source_ids = self._ids(sources[part], network.config.max_source_tokens)
            target_ids = self._ids(summaries[part], network.n_positions - 1)
            scores, is_real, n_pieces = score_targets(network, source_ids, target_ids)
            nats = torch.where(is_real, -scores.logp, 0.0).sum(dim=1)
            found.append(np.stack([nats.double().numpy(), n_pieces.double().numpy() + 1], axis=1))
        return np.concatenate(found)

    def _ids(self, texts: Sequence[str], longest: int) -> Tensor:
        rows = [ids[:longest] for ids in self._tokenizer.encode_batch(texts)]
        width = max(1, *map(len, rows))
        return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    args = _arguments(argv)
    try:
        judge = Judge(args.judge)
        parts = []
        for setting in args.sets:
            name, _, chars = setting.partition("=")
            part = EvaluationSet.read(find_set(args.data, name), name=name, first=args.first)
            parts.append((part, int(chars)))
        summaries = {name: _summaries(name, parts, args) for name in args.models}
    except SumfitError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    rows: list[tuple[Cell, ...]] = []
    for number, (part, chars) in enumerate(parts):
        texts = {name: of_model[number] for name, of_model in summaries.items()}
        texts["references"] = [alternatives[0] for alternatives in part.references]
        costs = {name: judge.costs(part.sources, of_one) for name, of_one in texts.items()}
        rows += [(part.name, chars, *cells) for cells in compared(costs)]
    print(render([Table("Fluency", COLUMNS, tuple(rows), ())], "markdown"))
    return 0


def compared(costs: dict[str, FloatArray], *, n_samples: int = 1000) -> Iterator[tuple[Cell, ...]]:
    """Compare with the first one.

    Args:
        costs: ``(N, 2)`` nats and pieces of the same N texts, by name.
        n_samples: Resamples of the bootstrap.

    Yields:
        Name, nats per piece, difference with its 95 % interval, mean number of pieces.
    """
    first = next(iter(costs.values()))
    chosen = np.random.default_rng(0).integers(len(first), size=(n_samples, len(first)))
    base = _per_piece(first[chosen])
    for name, own in costs.items():
        value, pieces = float(_per_piece(own)), float(own[:, 1].mean())
        if own is first:
            yield (name, value, None, None, None, pieces)
            continue
        low, high = np.percentile(_per_piece(own[chosen]) - base, [2.5, 97.5])
        yield (name, value, value - float(_per_piece(first)), float(low), float(high), pieces)


def _per_piece(costs: FloatArray) -> FloatArray:
    total = costs.sum(axis=-2)
    return np.asarray(total[..., 0] / total[..., 1])


def _summaries(
    model: str, parts: Sequence[tuple[EvaluationSet, int]], args: argparse.Namespace
) -> list[list[str]]:
    keywords: dict[str, Any] = {"keep_short": False, "on_infeasible": "cut"}
    if args.rerank:
        keywords["rerank"] = args.rerank
    path = None if model == "default" else Path(model)
    with ModelRunner(path, n_processes=args.processes) as runner:
        return [
            [item.text for item in runner.run(part.sources, max_chars=chars, **keywords)]
            for part, chars in parts
        ]


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="directory of the sets")
    parser.add_argument("--judge", type=Path, required=True, help="autoregressive checkpoint")
    parser.add_argument("--models", nargs="+", default=["default"], help="default, or directories")
    parser.add_argument("--sets", nargs="+", default=list(LIMITS), metavar="SET=CHARS")
    parser.add_argument("--rerank", default="", help="as for sumfit; plain search if left out")
    parser.add_argument("--first", type=int, help="so many items of each set, spread evenly")
    parser.add_argument("--processes", type=int, help="processes; one per processor")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
