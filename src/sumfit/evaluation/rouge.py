"""ROUGE-1, ROUGE-2, ROUGE-L and their sum, with a signature and a seeded interval.

Owns the choice of settings, references and cut; the counting is rouge-score's. Scores are
percentages. A summary or reference without a scorable word scores 0 and is counted; nothing is
ever left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sumfit.errors import ConfigError, InputError, MissingExtraError
from sumfit.evaluation.scoring_words import Splitter, SplitterName
from sumfit.evaluation.signature import Signature, fingerprint_texts
from sumfit.evaluation.significance import (
    BootstrapOptions,
    Interval,
    PairedResult,
    bootstrap_interval,
    paired_bootstrap,
)

__all__ = [
    "METRICS",
    "RougeOptions",
    "RougeResult",
    "References",
    "compare_rouge",
    "cut_bytes",
    "rouge",
    "rouge_items",
]

FloatArray = npt.NDArray[np.float64]
References = Sequence[str | Sequence[str]]

METRICS = ("R-1", "R-2", "R-L", "R-Sum")
_MEASURES = {"f1": 2, "recall": 1, "precision": 0}
_PER_PAIR = 3  # precision, recall, F1


@dataclass(frozen=True, slots=True)
class RougeOptions:
    """Settings of a ROUGE score; the defaults are the paper's.

    Attributes:
        measure: ``"f1"``, ``"recall"`` or ``"precision"``.
        stem: Porter stemming of words longer than three letters.
        tokenizer: ``"ascii"`` (ROUGE-1.5.5's rule) or ``"unicode"`` (any script).
        l_kind: ``"sentence"``: one longest common subsequence of the whole text (rougeL);
            ``"summary"``: union over the lines of the text (rougeLsum, split at newlines).
        references: What several references give. ``"best"``: the greatest measure, each metric
            by itself; ``"mean"``: the mean; ``"jackknife"``: mean over all leave-one-out sets of
            the best; ``"pooled"``: hits and counts summed over references before dividing
            (``-f A`` of ROUGE-1.5.5).
        max_bytes: Cut summary and references at this many UTF-8 bytes first, even inside a
            word, as ``-b`` of ROUGE-1.5.5 does; ``None`` for no cut.
        bootstrap: How intervals are drawn.
    """

    measure: Literal["f1", "recall", "precision"] = "f1"
    stem: bool = True
    tokenizer: SplitterName = "ascii"
    l_kind: Literal["sentence", "summary"] = "sentence"
    references: Literal["best", "mean", "jackknife", "pooled"] = "best"
    max_bytes: int | None = None
    bootstrap: BootstrapOptions = field(default_factory=BootstrapOptions)

    def __post_init__(self) -> None:
        if self.measure not in _MEASURES:
            raise ConfigError(f"measure must be one of {sorted(_MEASURES)}, was {self.measure!r}")
        if self.l_kind not in ("sentence", "summary"):
            raise ConfigError(f"l_kind must be 'sentence' or 'summary', was {self.l_kind!r}")
        if self.references not in _COMBINE:
            raise ConfigError(
                f"references must be one of {sorted(_COMBINE)}, was {self.references!r}"
            )
        if self.max_bytes is not None and self.max_bytes < 1:
            raise ConfigError.of("max_bytes", self.max_bytes, "must be at least 1")

    @classmethod
    def duc(
        cls, references: Literal["best", "mean", "jackknife", "pooled"] = "mean"
    ) -> RougeOptions:
        """Recall at 75 bytes averaged over the references, as results on DUC 2004 report it.

        Args:
            references: Another rule for several references; none but ``"mean"`` is comparable
                with published results.

        Returns:
            The settings.
        """
        return cls(measure="recall", max_bytes=75, references=references)


@dataclass(frozen=True, slots=True)
class RougeResult:
    """Scores of one system on one data set.

    Attributes:
        scores: Mean and interval of each of `METRICS`, in percent (R-Sum up to 300).
        items: ``(n, 4)`` scores of each item, in the order of `METRICS`.
        n_empty: Summaries without a scorable word; each scores 0.
        n_empty_references: Items none of whose references has a scorable word.
        signature: What the numbers depend on.
    """

    scores: Mapping[str, Interval]
    items: FloatArray
    n_empty: int
    n_empty_references: int
    signature: Signature

    @property
    def n(self) -> int:
        """Items scored."""
        return int(self.items.shape[0])


def rouge(
    summaries: Sequence[str],
    references: References,
    *,
    options: RougeOptions | None = None,
    budget_rule: str = "",
) -> RougeResult:
    """Score a system.

    Args:
        summaries: One text per item; an empty one scores 0.
        references: One text, or a sequence of alternatives, per item.
        options: Settings.
        budget_rule: The length rule that the summaries were made under, for the signature.

    Returns:
        Means with intervals, item scores, counts and signature.

    Raises:
        InputError: If the counts differ, there are none, or an item has no reference.
        MissingExtraError: If rouge-score is not installed.
    """
    options = options or RougeOptions()
    alternatives = _as_alternatives(summaries, references)
    items, n_empty, n_empty_references = _score(summaries, alternatives, options)
    intervals = bootstrap_interval(items, options.bootstrap)
    return RougeResult(
        scores=dict(zip(METRICS, intervals, strict=True)),
        items=items,
        n_empty=n_empty,
        n_empty_references=n_empty_references,
        signature=_signature(alternatives, options, budget_rule),
    )


def rouge_items(
    summaries: Sequence[str], references: References, *, options: RougeOptions | None = None
) -> FloatArray:
    """Score each item, without intervals.

    Args:
        summaries: One text per item.
        references: One text, or a sequence of alternatives, per item.
        options: Settings.

    Returns:
        ``(n, 4)`` percentages in the order of `METRICS`.

    Raises:
        InputError: If the counts differ, there are none, or an item has no reference.
        MissingExtraError: If rouge-score is not installed.
    """
    alternatives = _as_alternatives(summaries, references)
    return _score(summaries, alternatives, options or RougeOptions())[0]


def compare_rouge(result: RougeResult, other: RougeResult) -> Mapping[str, PairedResult]:
    """Test the difference of two systems by paired bootstrap.

    Args:
        result: Scores of the system.
        other: Scores of the other system on the same references with the same settings.

    Returns:
        The paired result of each of `METRICS`.

    Raises:
        InputError: If the signatures say that the numbers are not comparable.
    """
    differing = [key for key in result.signature.differences(other.signature) if key != "budget"]
    if differing:
        raise InputError(
            f"the scores differ in {', '.join(differing)} and cannot be compared; "
            "score both systems with the same settings and references"
        )
    options = _bootstrap_of(result.signature)
    paired = paired_bootstrap(result.items, other.items, options)
    return dict(zip(METRICS, paired, strict=True))


def cut_bytes(text: str, max_bytes: int) -> str:
    """Cut a text after a number of UTF-8 bytes, never inside a character.

    Args:
        text: The text.
        max_bytes: Most bytes to keep.

    Returns:
        The longest prefix of at most that many bytes.
    """
    return text.encode("utf-8", "replace")[:max_bytes].decode("utf-8", "ignore")


def _as_alternatives(
    summaries: Sequence[str], references: References
) -> tuple[tuple[str, ...], ...]:
    if len(summaries) != len(references):
        raise InputError(
            f"there are {len(summaries)} summaries but {len(references)} references; "
            "give one line of references for each summary"
        )
    if not summaries:
        raise InputError("there is nothing to score: no summaries; give at least one")
    alternatives = tuple((r,) if isinstance(r, str) else tuple(r) for r in references)
    for number, (summary, texts) in enumerate(zip(summaries, alternatives, strict=True), 1):
        if not isinstance(summary, str):
            raise InputError(f"summary {number} is {summary!r}, not a text")
        if not texts or any(not isinstance(text, str) or not text.strip() for text in texts):
            raise InputError(f"item {number} has an empty reference; give a text for every item")
    return alternatives


def _score(
    summaries: Sequence[str], alternatives: Sequence[tuple[str, ...]], options: RougeOptions
) -> tuple[FloatArray, int, int]:
    splitter = Splitter(options.tokenizer, stem=options.stem)
    l_name = "rougeL" if options.l_kind == "sentence" else "rougeLsum"
    kinds = ("rouge1", "rouge2", l_name)
    scorer = _scorer(kinds, splitter)
    combine = _COMBINE[options.references]
    cut = options.max_bytes
    items = np.zeros((len(summaries), len(METRICS)))
    n_empty = n_empty_references = 0
    for row, (summary, texts) in enumerate(zip(summaries, alternatives, strict=True)):
        if cut is not None:
            summary = cut_bytes(summary, cut)
            texts = tuple(cut_bytes(text, cut) for text in texts)
        sizes = [len(splitter.tokenize(text)) for text in texts]
        n_empty_references += not any(sizes)
        size = len(splitter.tokenize(summary))
        if not size:
            n_empty += 1
            continue
        pairs = np.zeros((len(texts), 3, _PER_PAIR))
        for index, text in enumerate(texts):
            found = scorer.score(text, summary)
            pairs[index] = [found[kind] for kind in kinds]
        items[row, :3] = combine(pairs, np.array(sizes), size, _MEASURES[options.measure]) * 100
    items[:, 3] = items[:, :3].sum(axis=1)
    return items, n_empty, n_empty_references


# Each rule gets ``(R, 3, 3)`` precision, recall and F1 of every metric against every reference,
# the reference sizes ``(R,)``, the summary's size, and which measure is wanted.
def _best(pairs: FloatArray, sizes: Any, size: int, measure: int) -> FloatArray:
    return np.asarray(pairs[:, :, measure].max(axis=0))


def _mean(pairs: FloatArray, sizes: Any, size: int, measure: int) -> FloatArray:
    return np.asarray(pairs[:, :, measure].mean(axis=0))


def _jackknife(pairs: FloatArray, sizes: Any, size: int, measure: int) -> FloatArray:
    values = pairs[:, :, measure]
    n_references = values.shape[0]
    if n_references == 1:
        return np.asarray(values[0])
    folds = [np.delete(values, left_out, axis=0).max(axis=0) for left_out in range(n_references)]
    return np.asarray(np.mean(folds, axis=0))


def _pooled(pairs: FloatArray, sizes: Any, size: int, measure: int) -> FloatArray:
    grams = np.array([0, 1, 0])
    in_reference = np.maximum(np.asarray(sizes)[:, None] - grams, 0)
    in_summary = np.maximum(size - grams, 0) * pairs.shape[0]
    hits = np.rint(pairs[:, :, 1] * in_reference).sum(axis=0)
    recall = hits / np.maximum(in_reference.sum(axis=0), 1)
    precision = hits / np.maximum(in_summary, 1)
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros(3), where=total > 0)
    return np.asarray((precision, recall, f1)[measure])


_COMBINE: dict[str, Callable[[FloatArray, Any, int, int], FloatArray]] = {
    "best": _best,
    "mean": _mean,
    "jackknife": _jackknife,
    "pooled": _pooled,
}


def _scorer(kinds: Sequence[str], splitter: Splitter) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError as error:
        raise MissingExtraError("rouge-score", "eval") from error
    return RougeScorer(list(kinds), tokenizer=splitter)


def _signature(
    alternatives: Sequence[tuple[str, ...]], options: RougeOptions, budget_rule: str
) -> Signature:
    counts = {len(texts) for texts in alternatives}
    n_references = str(counts.pop()) if len(counts) == 1 else f"{min(counts)}-{max(counts)}"
    values = asdict(options.bootstrap)
    return Signature.of(
        {
            "metric": f"rouge-{options.measure}",
            "scorer": f"rouge-score-{version('rouge-score')}",
            "stem": "porter-nltk" if options.stem else "no",
            "tok": options.tokenizer,
            "L": options.l_kind,
            "refs": f"{n_references}-{options.references}",
            "cut": f"{options.max_bytes}-bytes" if options.max_bytes else "no",
            "budget": budget_rule,
            "data": fingerprint_texts(alternatives),
            "n": len(alternatives),
            "boot": "-".join(str(values[key]) for key in ("n_samples", "confidence", "seed")),
        }
    )


def _bootstrap_of(signature: Signature) -> BootstrapOptions:
    n_samples, confidence, seed = dict(signature.entries)["boot"].split("-", 2)
    return BootstrapOptions(int(n_samples), float(confidence), int(seed))
