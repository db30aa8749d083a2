"""The reranker inside the default model: found by its name, and held to every promise."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from sumfit import Summarizer, Summary, measure
from sumfit.cli.app import run
from sumfit.dag import DAG
from sumfit.errors import ConfigError
from sumfit.hypothesis import Hypothesis
from sumfit.models.manifest import write_manifest
from sumfit.rerank import GraphMBRReranker
from sumfit.rerank.neural import NeuralReranker
from sumfit.runtime import RERANKER, default_model_path
from sumfit.text.distinct import distinct
from sumfit.truth import support
from tests.serving.conftest import running

EXAMPLES = Path(__file__).parents[2] / "examples" / "texts"
PLACE = default_model_path() / RERANKER
N_READ = 24

pytestmark = pytest.mark.skipif(
    not (default_model_path() / "config.json").is_file(),
    reason="this checkout has no embedded model",
)


@pytest.fixture(scope="module")
def fit() -> Summarizer:
    return Summarizer.from_pretrained(n_workers=2)


@pytest.fixture(scope="module")
def all_texts() -> list[str]:
    files = sorted(EXAMPLES.glob("*.txt"))
    return [file.read_text(encoding="utf-8") for file in files if "-awkward-" not in file.name]


@pytest.fixture(scope="module")
def texts(all_texts: list[str]) -> list[str]:
    return all_texts[:8]


def said(summary: Summary) -> tuple[object, ...]:
    """What must not depend on how a summary was asked for."""
    return (summary.text, summary.rank, summary.score, summary.log_prob, summary.optimal)


def test_it_comes_with_the_model_and_is_small(fit: Summarizer) -> None:
    assert fit.model.own_reranker == PLACE
    assert sorted(file.name for file in PLACE.iterdir()) == [
        "config.json",
        "model.onnx",
        "phrases.npz",
    ]
    assert sum(file.stat().st_size for file in PLACE.iterdir()) < 1.8 * 2**20
    config = NeuralReranker(PLACE).config
    assert config.network_weight > 0
    assert config.profiles == tuple(sorted(fit.config.profiles))
    assert config.tokenizer_sha256 == fit.config.tokenizer_sha256
    assert not list(PLACE.glob("*.safetensors"))


def test_a_plain_summary_does_not_load_it(texts: list[str]) -> None:
    code = (
        "import sys, sumfit\n"
        "fit = sumfit.Summarizer.from_pretrained()\n"
        "for rerank in (None, 'mbr', 'neural'):\n"
        f"    fit({texts[0]!r}, max_chars=60, rerank=rerank)\n"
        "    print('sumfit.rerank.neural' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.split() == ["False", "False", "True"]


class Recorded:
    """Minimum Bayes risk under the whole graph that keeps the lists it orders."""

    def __init__(self, fit: Summarizer) -> None:
        self.mbr = GraphMBRReranker.of(fit.tokenizer, weight=fit.config.mbr_weight)
        self.name, self.lists = self.mbr.name, list[Sequence[Hypothesis]]()
        self.n_candidates, self.after_best = self.mbr.n_candidates, self.mbr.after_best

    def rank(self, dag: DAG, nbest: Sequence[Hypothesis]) -> Sequence[int]:
        self.lists.append(nbest)
        return self.mbr.rank(dag, nbest)


@pytest.mark.parametrize("profile", ["natural", "gigaword"])
def test_it_chooses_among_what_minimum_bayes_risk_reads(
    fit: Summarizer, all_texts: list[str], profile: str
) -> None:
    recorded, moved = Recorded(fit), []
    for text in all_texts:
        text = text.lower() if profile == "gigaword" else text
        for limit in (30, 60):
            asked = {"max_chars": limit, "profile": profile}
            mbr = fit(text, **asked, rerank=recorded)
            found = fit(text, **asked, rerank="neural", n_best=5, near_doubles=True)
            listed = recorded.lists[-1]
            for one in (found, *found.alternatives):
                assert 0 < measure(one.text, "chars") <= limit
                words = listed[one.rank]
                assert fit.tokenizer.decode(words.words).lower() == one.text.lower()
                assert (one.score, one.log_prob) == (words.score, words.log_prob)
                assert one.gap >= listed[0].score - one.score - 1e-9
            moved.append(found.text != mbr.text)
    # It adds something to minimum Bayes risk, and is close to it: 18 and 17 of 34 differed where
    # this was written, and some do on every processor, however its int8 products are rounded.
    assert 4 <= sum(moved) <= len(moved) - 4


def test_candidates_come_in_its_order(fit: Summarizer, texts: list[str]) -> None:
    for text in texts[:4]:
        few = fit(text, max_words=8, rerank="neural", n_best=3)
        many = fit(text, max_words=8, rerank="neural", n_best=10)
        best = fit(text, max_words=8, rerank="neural")
        order = [one.text for one in (many, *many.alternatives)]
        assert [one.text for one in (few, *few.alternatives)] == order[:3]
        assert said(best) == said(many)


@pytest.mark.parametrize("rerank", ["neural", "mbr"])
def test_the_first_does_not_depend_on_how_many_are_asked_for(
    fit: Summarizer, all_texts: list[str], rerank: str
) -> None:
    grown = 0
    for text in all_texts[::2]:
        asked = {"max_chars": 60, "rerank": rerank}
        found = {n: fit(text, **asked, n_best=n) for n in (1, 5, 23, 24, 30, 50)}
        orders = {n: [one.text for one in (best, *best.alternatives)] for n, best in found.items()}
        for n, order in orders.items():
            assert said(found[n]) == said(found[1]), n
            assert len(order) == len(set(order)) <= n
            assert order[: len(orders[5])] == orders[5][: len(order)]
            ranks = [one.rank for one in (found[n], *found[n].alternatives)]
            assert len(set(ranks)) == len(ranks)
            assert distinct(order) == order
        grown += len(orders[50]) > len(orders[5])
    assert grown


@pytest.mark.parametrize(
    ("unit", "limit"),
    [("words", 8), ("chars", 40), ("bytes", 70), ("tokens", 12), ("graphemes", 50), ("cells", 50)],
)
def test_every_unit_is_kept(fit: Summarizer, texts: list[str], unit: str, limit: int) -> None:
    for summary in fit(texts, **{f"max_{unit}": limit}, rerank="neural"):
        assert 0 < measure(summary.text, unit, tokenizer=fit.tokenizer) <= limit
        assert summary.complete


def test_exact_lengths_and_a_prefix_are_kept(fit: Summarizer, texts: list[str]) -> None:
    for text in texts[:4]:
        assert len(fit(text, exact_words=7, rerank="neural").text.split()) == 7
        found = fit(text, max_chars=60, prefix="News: ", rerank="neural")
        assert found.text.startswith("News: ")
        assert len(found.text) <= 60


def test_awkward_texts_are_told_within_the_limit(fit: Summarizer) -> None:
    for file in sorted(EXAMPLES.glob("*-awkward-*.txt")):
        text = file.read_text(encoding="utf-8")
        plain = fit(text, max_cells=24, on_error="return")
        found = fit(text, max_cells=24, rerank="neural", on_error="return")
        assert type(found.error) is type(plain.error)
        assert bool(found.text) == bool(plain.text)
        assert measure(found.text, "cells") <= 24


@pytest.mark.parametrize("method", ["pathmap", "greedy", "seqmap-beam", "seqmap-table"])
def test_other_methods_give_it_what_they_have(
    fit: Summarizer, texts: list[str], method: str
) -> None:
    options = {"method": method, "constraints": False, "on_infeasible": "cut"}
    for text in texts[:3]:
        found = fit(text, max_words=8, rerank="neural", **options)
        assert 0 < len(found.text.split()) <= 8


def test_a_single_candidate_is_the_answer(fit: Summarizer) -> None:
    plain = fit("Thanks", max_chars=10)
    assert fit("Thanks", max_chars=10, rerank="neural").text == plain.text == "Thanks"


def test_the_filter_looks_at_its_order(fit: Summarizer, texts: list[str]) -> None:
    for text in texts[:5]:
        listed = fit(text, max_chars=60, rerank="neural", n_best=N_READ, near_doubles=True)
        order = [one.text for one in (listed, *listed.alternatives)]
        wanted = [one for one in order if support(text, one).supported]
        found = fit(text, max_chars=60, rerank="neural", faithful=True)
        assert found.faithful is bool(wanted)
        assert found.text == (
            wanted[0] if wanted else min(order, key=lambda one: support(text, one).penalty)
        )


def test_neither_batch_nor_thread_nor_other_limits_matter(
    fit: Summarizer, texts: list[str]
) -> None:
    alone = [said(fit(text, max_chars=50, rerank="neural")) for text in texts]
    assert [said(one) for one in fit(texts, max_chars=50, rerank="neural")] == alone
    backwards = fit(texts[::-1], max_chars=50, rerank="neural")
    assert [said(one) for one in backwards][::-1] == alone
    for text, expected in zip(texts, alone, strict=True):
        several = fit(text, max_chars=[30, 50, 80], rerank="neural")
        assert said(several[1]) == expected
        assert all(len(one.text) <= most for one, most in zip(several, (30, 50, 80), strict=True))
    fresh = Summarizer.from_pretrained(n_workers=1)  # loads the reranker in one of the threads
    with ThreadPoolExecutor(4) as pool:
        threaded = pool.map(lambda text: fresh(text, max_chars=50, rerank="neural"), texts * 3)
    assert [said(one) for one in threaded] == alone * 3


def test_command_job_and_server_know_it(
    fit: Summarizer, texts: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = [one.text for one in fit(texts, max_chars=55, rerank="neural")]
    assert run([texts[0], "--max-chars", "55", "--rerank", "neural"]) == 0
    assert capsys.readouterr().out.strip() == expected[0]
    lines = [" ".join(text.split()) for text in texts]
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    words = ["summarize", str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.txt")]
    assert run([*words, "--max-chars", "55", "--rerank", "neural"]) == 0
    told = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    assert told == [one.text for one in fit(lines, max_chars=55, rerank="neural")]
    with running(fit) as url:
        body = {"texts": texts, "max_chars": 55, "rerank": "neural"}
        reply = httpx.post(f"{url}/v1/summarize", json=body, trust_env=False, timeout=60).json()
    assert [item["text"] for item in reply["summaries"]] == expected


def test_a_model_without_one_says_so(tmp_path: Path, texts: list[str]) -> None:
    model = tmp_path / "model"
    shutil.copytree(default_model_path(), model, ignore=shutil.ignore_patterns(RERANKER))
    write_manifest(model)
    bare = Summarizer.from_pretrained(model)
    assert bare.model.own_reranker is None
    with pytest.raises(ConfigError, match=r"has no reranker of its own .* use rerank='mbr'"):
        bare(texts[0], max_chars=60, rerank="neural")
    same = bare(texts[0], max_chars=60, rerank=PLACE)  # of the same tokenizer, so it may be lent
    assert said(same) == said(Summarizer.from_pretrained()(texts[0], max_chars=60, rerank="neural"))
