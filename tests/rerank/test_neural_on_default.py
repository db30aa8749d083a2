"""A reranker on the embedded model: its lists, its promises, and the numbers of training."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sumfit import Summarizer, measure
from sumfit.hypothesis import Candidate
from sumfit.rerank.features import ListNumbers
from sumfit.rerank.neural import NeuralReranker
from sumfit.runtime import default_model_path
from sumfit.training.nbest.lists import Lists, read_lists
from sumfit.training.nbest.make import make_lists
from sumfit.training.nbest.spec import NbestSpec
from sumfit.training.reranking.files import export_reranker
from sumfit.truth import support
from tests.tiny_reranker import write_checkpoint

EXAMPLES = Path(__file__).parents[2] / "examples" / "texts"
N_LISTED, N_READ = 24, 12

pytestmark = pytest.mark.skipif(
    not (default_model_path() / "config.json").is_file(),
    reason="this checkout has no embedded model",
)


class Watched(NeuralReranker):
    """Keeps what it was given."""

    def order(self, source_text: str, candidates: Sequence[Candidate]) -> tuple[int, ...]:
        self.given = list(candidates)
        return super().order(source_text, candidates)


@pytest.fixture(scope="module")
def fit() -> Summarizer:
    return Summarizer.from_pretrained()


@pytest.fixture(scope="module")
def texts() -> list[str]:
    files = sorted(EXAMPLES.glob("*.txt"))
    return [file.read_text(encoding="utf-8") for file in files if "-awkward-" not in file.name][:6]


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder = tmp_path_factory.mktemp("r")
    checkpoint, _ = write_checkpoint(
        default_model_path(), folder / "c", n_candidates=N_READ, order_weight=100.0, max_source=60
    )
    config = json.loads((checkpoint / "config.json").read_text())
    config |= {"n_listed": N_LISTED, "after_best": 128}
    (checkpoint / "config.json").write_text(json.dumps(config))
    return Watched(export_reranker(checkpoint, folder / "reranker", precisions=["int8"]))


def test_a_summary_keeps_every_promise(
    fit: Summarizer, texts: list[str], reranker: Watched
) -> None:
    lister = reranker.lister(fit.tokenizer)
    moved = 0
    for text in texts:
        mbr = fit(text, max_chars=60, n_best=N_READ, near_doubles=True, rerank=lister)
        listed = {one.text: one for one in (mbr, *mbr.alternatives)}
        plain = fit(text, max_chars=60, rerank=None)
        found = fit(text, max_chars=60, n_best=3, rerank=reranker)
        for one in (found, *found.alternatives):
            assert 0 < measure(one.text, "chars") <= 60
            assert one.complete
            same = listed[one.text]
            assert (one.rank, one.log_prob, one.score) == (same.rank, same.log_prob, same.score)
            assert one.optimal == (one.score == pytest.approx(plain.score))
            assert one.gap == pytest.approx(plain.score - one.score, abs=1e-9)
        assert [one.text for one in reranker.given] == list(listed)
        moved += found.text != mbr.text
    assert moved  # random weights agree with nobody


def test_the_filter_comes_after_it(fit: Summarizer, texts: list[str], reranker: Watched) -> None:
    for text in texts:
        whole = fit(text, max_chars=60, n_best=20, rerank=reranker, near_doubles=True)
        listed = (whole, *whole.alternatives)
        wanted = [one.text for one in listed if one.faithful]
        found = fit(text, max_chars=60, rerank=reranker, faithful=True)
        assert found.faithful is bool(wanted)
        least = min(listed, key=lambda one: support(text, one.text).penalty)
        assert found.text == (wanted[0] if wanted else least.text)


def test_lists_may_be_short(fit: Summarizer, texts: list[str], reranker: Watched) -> None:
    for limit in (9, 14, 20):
        found = fit(texts[0], max_chars=limit, rerank=reranker, on_infeasible="cut")
        assert len(found.text) <= limit
    only = fit(texts[0], max_chars=60, rerank=reranker, method="pathmap", constraints=False)
    assert len(only.text) <= 60


def test_the_numbers_are_those_of_the_lists_it_learns_from(
    fit: Summarizer, texts: list[str], reranker: Watched, tmp_path: Path
) -> None:
    pairs = [json.dumps({"source": text, "summary": "Something else"}) for text in texts]
    (tmp_path / "pairs.jsonl").write_text("\n".join(pairs))
    spec = NbestSpec(
        lists=str(tmp_path / "l"),
        model=str(default_model_path()),
        data=str(tmp_path / "pairs.jsonl"),
        chars="60",
        n_best=N_LISTED,
        after_best=128,
        words_per_vertex=12,
    )
    make_lists(spec, n_workers=1)
    meta, parts = read_lists(tmp_path / "l")
    lists = Lists.joined(list(parts)).given(most=N_READ, weight=100.0)
    assert (meta.n_best, meta.after_best) == (N_LISTED, 128)
    ends = np.cumsum(lists.n_candidates)
    for place, a, b in zip(lists.items, ends - lists.n_candidates, ends, strict=True):
        fit(texts[place], max_chars=60, rerank=reranker)
        numbers = ListNumbers.of(reranker.given)
        of_lists = {
            "log_probs": lists.log_probs,
            "scores": lists.scores,
            "n_pieces": lists.candidate_lengths,
            "ranks": lists.ranks,
            "expected_f1": lists.expected_f1,
        }
        for name in (field.name for field in dataclasses.fields(ListNumbers)):
            np.testing.assert_allclose(
                getattr(numbers, name), of_lists[name][a:b], atol=1e-4, err_msg=name
            )
