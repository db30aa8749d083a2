"""The scorer: a tree of candidates gives what each candidate gets by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sumfit.models.config import BOS, EOS, DATConfig
from sumfit.models.dat import DAT
from sumfit.models.export import export_onnx
from sumfit.models.export_scorer import export_scorer
from sumfit.models.exported import exported_weights
from sumfit.runtime.scorer import CandidateTree, Scorer

CONFIG = DATConfig(
    vocab_size=60,
    width=32,
    n_heads=4,
    n_link_heads=4,
    ffn_width=64,
    n_encoder_layers=1,
    n_decoder_layers=1,
    n_scorer_layers=2,
    max_source_tokens=16,
    min_vertices=8,
    max_vertices=24,
)
CANDIDATES = [(5, 6, 7), (5, 6), (5, 9, 7, 8), (11,), (5, 6, 7)]
WORDS = np.arange(4, 60)


def _network(verdict_width: int = 0) -> DAT:
    torch.manual_seed(3)
    network = DAT(replace(CONFIG, verdict_width=verdict_width)).eval()
    for parameter in network.parameters():
        parameter.data += 0.1 * torch.randn_like(parameter)
    return network


@pytest.fixture(scope="module")
def network() -> DAT:
    """A network with a scorer, its weights random."""
    return _network()


@pytest.fixture(scope="module")
def memory(network: DAT) -> torch.Tensor:
    """An encoded source."""
    with torch.no_grad():
        encoded, _ = network.encode(torch.tensor([[9, 12, 33, 5]]))
    return encoded


def _steps(network: DAT, memory: torch.Tensor, candidate: tuple[int, ...]) -> list[float]:
    """The log-probabilities of the words of one candidate and its end, read without a tree."""
    ids = torch.tensor([[BOS, *candidate]])
    mask = torch.ones(1, memory.shape[1], dtype=torch.bool)
    with torch.no_grad():
        states = network.read(ids, memory, mask)[0]
        logits = states @ network.embedding.weight.T
    logits[:, :EOS] = -torch.inf
    logits[:, 3] = -torch.inf  # the mask, which no candidate holds
    logp = logits.log_softmax(dim=-1)
    return [float(logp[place, word]) for place, word in enumerate([*candidate, EOS])]


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-4), ("int8", 0.6)])
def test_a_tree_scores_each_candidate_as_torch_scores_it_alone(
    network: DAT, memory: torch.Tensor, tmp_path: Path, precision: str, tolerance: float
) -> None:
    export_scorer(network, tmp_path / "scorer.onnx", precision=precision)
    rows = network.embedding.weight.detach().numpy()
    scorer = Scorer(tmp_path / "scorer.onnx", lambda: rows)
    found = scorer.read(memory[0].numpy(), CANDIDATES, WORDS).logp
    expected = [sum(_steps(network, memory, candidate)) for candidate in CANDIDATES]
    np.testing.assert_allclose(found, expected, atol=tolerance)
    assert found[0] == found[4]


@given(
    st.lists(st.lists(st.integers(4, 9), max_size=5).map(tuple), min_size=1, max_size=8),
)
def test_every_path_of_the_tree_spells_its_candidate(candidates: list[tuple[int, ...]]) -> None:
    tree = CandidateTree.of(candidates)
    sees = tree.sees()
    for candidate, end in zip(candidates, tree.ends, strict=True):
        words, node = [], int(end)
        seen = set()
        while node >= 0:
            words.append(int(tree.words[node]))
            seen.add(node)
            node = int(tree.parents[node])
        assert words[::-1] == [BOS, *candidate]
        assert tree.places[end] == len(candidate)
        assert set(np.flatnonzero(sees[end])) == seen
    assert len(tree.words) <= 1 + sum(map(len, candidates))


@pytest.mark.parametrize(("width", "part"), [(0, "scorer"), (8, "verdict")])
def test_an_exported_scorer_reads_back_as_the_same_weights(
    tmp_path: Path, width: int, part: str
) -> None:
    network = _network(verdict_width=width)
    export_onnx(network, tmp_path / "model.fp32.onnx", precision="fp32")
    export_scorer(network, tmp_path / "scorer.fp32.onnx", precision="fp32")
    weights = exported_weights(tmp_path / "model.fp32.onnx", network.config)
    own = network.state_dict()
    assert weights.keys() == own.keys()
    names = [name for name in own if name.startswith(part)]
    assert names
    for name in names:
        torch.testing.assert_close(weights[name], own[name])


@pytest.mark.parametrize(("precision", "tolerance"), [("fp32", 1e-4), ("int8", 0.2)])
def test_the_verdict_of_a_tree_is_that_on_each_candidate_alone(
    memory: torch.Tensor, tmp_path: Path, precision: str, tolerance: float
) -> None:
    network = _network(verdict_width=8)
    export_scorer(network, tmp_path / "scorer.onnx", precision=precision)
    rows = network.embedding.weight.detach().numpy()
    scorer = Scorer(tmp_path / "scorer.onnx", lambda: rows)
    assert scorer.has_verdict
    found = scorer.read(memory[0].numpy(), CANDIDATES, WORDS).verdict
    assert found is not None
    mask = torch.ones(1, memory.shape[1], dtype=torch.bool)
    for candidate, verdict in zip(CANDIDATES, found.tolist(), strict=True):
        with torch.no_grad():
            states = network.read(torch.tensor([[BOS, *candidate]]), memory, mask)
            alone = network.judge(states, torch.tensor([len(candidate)]), memory, mask)
        assert verdict == pytest.approx(float(alone), abs=tolerance)


def test_the_least_likely_word_is_the_one_of_each_candidate(
    network: DAT, memory: torch.Tensor, tmp_path: Path
) -> None:
    export_scorer(network, tmp_path / "scorer.onnx", precision="fp32")
    rows = network.embedding.weight.detach().numpy()
    scorer = Scorer(tmp_path / "scorer.onnx", lambda: rows)
    assert not scorer.has_verdict
    found = scorer.read(memory[0].numpy(), CANDIDATES, WORDS)
    assert found.verdict is None
    for candidate, logp, least in zip(CANDIDATES, found.logp, found.least, strict=True):
        steps = _steps(network, memory, candidate)
        assert least == pytest.approx(min(steps), abs=1e-4)
        assert logp == pytest.approx(sum(steps), abs=1e-4)
