"""Minimum risk against enumeration of every path of every candidate."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from sumfit.errors import ConfigError
from sumfit.losses import list_risk, objective, risk_objective
from sumfit.models import DAT
from tests.losses.test_objective import CONFIG, make_batch

SIZES = torch.tensor([6, 5, 6])
TARGETS = torch.tensor([[4, 6, 0], [5, 0, 0], [7, 4, 4]])
N_SPECIAL, SMOOTHING, RISK, MASS = 4, 0.1, 3.0, 0.5


class Graphs:
    """Three graphs whose states and links are what is learned."""

    n_special = N_SPECIAL

    def __init__(self, dtype: torch.dtype = torch.float32) -> None:
        gen = torch.Generator().manual_seed(5)
        self.embedding = nn.Embedding(8, 4, dtype=dtype)
        self.embedding.weight.data = torch.randn(8, 4, generator=gen).to(dtype)
        self.hidden = torch.randn(3, 6, 4, generator=gen).to(dtype).requires_grad_()
        self.scores = torch.randn(3, 6, 6, generator=gen).to(dtype).requires_grad_()

    @property
    def learned(self) -> tuple[Tensor, ...]:
        return self.embedding.weight, self.hidden, self.scores

    def encode(self, source_ids: Tensor) -> tuple[Tensor, Tensor]:
        return source_ids, source_ids

    def decode(self, ids: Tensor, mask: Tensor, memory: Tensor, source_mask: Tensor) -> Tensor:
        return self.hidden

    def link_logp(self, hidden: Tensor, mask: Tensor) -> Tensor:
        is_link = torch.ones(6, 6, dtype=torch.bool).triu(1) & mask[:, None] & mask[:, :, None]
        logp = self.scores.masked_fill(~is_link, -math.inf).log_softmax(dim=-1)
        return logp.masked_fill(~is_link, -math.inf)

    def vertex_mask(self, n_vertices: Tensor) -> Tensor:
        return torch.arange(6) < n_vertices[:, None]

    def vertex_ids(self, mask: Tensor) -> Tensor:
        return mask.long()


def lists() -> dict[str, Tensor]:
    """Candidates of the first text and the last; of the second only one fits its graph."""
    ids = torch.tensor(
        [
            [[4, 6, 0, 0], [5, 7, 4, 0], [6, 0, 0, 0]],
            [[5, 6, 0, 0], [4, 4, 5, 6], [0, 0, 0, 0]],
            [[7, 7, 7, 4], [4, 0, 0, 0], [0, 0, 0, 0]],
        ]
    )
    gen = torch.Generator().manual_seed(8)
    return {
        "source_ids": torch.zeros(3, 1, dtype=torch.long),
        "target_ids": TARGETS,
        "n_vertices": SIZES,
        "candidate_ids": ids,
        "candidate_pieces": (ids != 0).sum(dim=2),
        "bonuses": torch.rand(3, 3, generator=gen),
        "gains": torch.rand(3, 3, generator=gen),
    }


def enumerated(graphs: Graphs, row: int, words: list[int]) -> tuple[Tensor, Tensor]:
    """Probability of some words over all paths, and what smoothing adds on these paths."""
    end = int(SIZES[row]) - 1
    word_logp = (graphs.hidden[row] @ graphs.embedding.weight[N_SPECIAL:].T).log_softmax(dim=-1)
    link = graphs.link_logp(graphs.hidden, graphs.vertex_mask(SIZES))[row]
    masses, uniform = [], []
    for inner in itertools.combinations(range(1, end), len(words)):
        logp = sum(link[i, j] for i, j in itertools.pairwise((0, *inner, end)))
        logp = logp + sum(word_logp[j, w - N_SPECIAL] for j, w in zip(inner, words, strict=True))
        masses.append(torch.as_tensor(logp).exp())
        uniform.append(torch.stack([-word_logp[j].mean() for j in inner]).sum())
    if not masses:
        return torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    mass = torch.stack(masses)
    return mass.sum(), ((mass / mass.sum()).detach() * torch.stack(uniform)).sum()


def enumerated_loss(graphs: Graphs, batch: dict[str, Tensor]) -> Tensor:
    total = torch.zeros((), dtype=torch.float64)
    for row in range(3):
        reference = TARGETS[row][TARGETS[row] != 0].tolist()
        probability, smooth = enumerated(graphs, row, reference)
        loss = -(1 - SMOOTHING) * probability.log() + SMOOTHING * smooth
        usable = []
        for k in range(batch["candidate_ids"].shape[1]):
            words = batch["candidate_ids"][row, k, : batch["candidate_pieces"][row, k]].tolist()
            mass = enumerated(graphs, row, words)[0] if words else torch.zeros(())
            if mass > 0:
                usable.append((mass, batch["bonuses"][row, k], batch["gains"][row, k], len(words)))
        if len(usable) > 1:
            weights = torch.stack([mass * bonus.exp() for mass, bonus, _, _ in usable])
            gains = torch.stack([gain for _, _, gain, _ in usable])
            gain = (weights * gains).sum() / weights.sum()
            pieces = sum(n for *_, n in usable) / len(usable)
            lost = -torch.stack([mass for mass, *_ in usable]).sum().log() / pieces
            loss = loss + len(reference) * (MASS * lost - RISK * gain)
        total = total + loss
    return total / (TARGETS != 0).sum()


def test_loss_and_gradient_are_the_enumerated_ones() -> None:
    graphs, exact, batch = Graphs(), Graphs(torch.float64), lists()
    out = risk_objective(
        graphs, batch, risk_weight=RISK, mass_weight=MASS, label_smoothing=SMOOTHING
    )
    out.loss.backward()
    expected = enumerated_loss(exact, batch)
    expected.backward()
    assert out.loss.item() == pytest.approx(expected.item(), rel=1e-5)
    for ours, theirs in zip(graphs.learned, exact.learned, strict=True):
        assert ours.grad is not None
        assert theirs.grad is not None
        torch.testing.assert_close(ours.grad, theirs.grad.float(), rtol=1e-4, atol=1e-6)


def test_candidates_that_cannot_be_used_change_nothing() -> None:
    batch = lists()
    more = {
        "candidate_ids": torch.tensor([[4, 5, 6, 7, 4, 5], [6, 6, 6, 6, 6, 6]]).expand(3, 2, 6),
        "candidate_pieces": torch.tensor([6, 0]).expand(3, 2),  # longer than the graph; not there
        "bonuses": torch.tensor([50.0, 70.0]).expand(3, 2),
        "gains": torch.tensor([9.0, 9.0]).expand(3, 2),
    }
    wider = dict(batch)
    wider["candidate_ids"] = torch.nn.functional.pad(batch["candidate_ids"], (0, 2))
    wider |= {name: torch.cat([wider[name], more[name]], dim=1) for name in more}
    found = []
    for each in (batch, wider):
        graphs = Graphs()
        out = risk_objective(graphs, each, risk_weight=RISK, mass_weight=MASS)
        out.loss.backward()
        found.append((out, [value.grad for value in graphs.learned]))
    (one, grads), (two, grads_of_wider) = found
    assert two.loss.item() == pytest.approx(one.loss.item(), rel=1e-6)
    assert two.stats["gain"].item() == pytest.approx(one.stats["gain"].item(), rel=1e-6)
    torch.testing.assert_close(grads_of_wider, grads)


def test_a_list_without_a_choice_counts_for_nothing() -> None:
    nll = torch.tensor([[2.0, math.inf, 1.0], [math.nan, 3.0, 4.0], [math.inf] * 3, [2.0] * 3])
    nll.requires_grad_()
    n_pieces = torch.tensor([[3, 3, 0], [2, 4, 6], [1, 1, 1], [2, 4, 0]])
    gains = torch.tensor([0.2, 0.4, 0.8]).expand(4, 3)
    risk = list_risk(nll, n_pieces=n_pieces, bonuses=torch.zeros(4, 3), gains=gains)
    chosen = math.exp(-3) / (math.exp(-3) + math.exp(-4))
    assert risk.gain.tolist() == pytest.approx([0, 0.4 * chosen + 0.8 * (1 - chosen), 0, 0.3])
    lost = -math.log(math.exp(-3) + math.exp(-4)) / 5
    assert risk.mass.tolist() == pytest.approx([0, lost, 0, (2 - math.log(2)) / 3])
    (risk.gain + risk.mass).sum().backward()
    assert nll.grad is not None
    assert nll.grad.isfinite().all()
    assert nll.grad.ne(0).int().tolist() == [[0, 0, 0], [0, 1, 1], [0, 0, 0], [1, 1, 0]]


def test_the_better_candidate_rises_above_the_more_likely_one() -> None:
    """Also: without weights the loss is that of the reference alone."""
    torch.manual_seed(0)
    model, batch = DAT(CONFIG), make_batch()
    ids = torch.tensor([[[4, 9], [5, 8]], [[10, 0], [11, 12]], [[30, 31], [22, 0]]])
    batch |= {"candidate_ids": ids, "candidate_pieces": (ids != 0).sum(dim=2)}
    batch |= {"gains": torch.tensor([0.3, 0.7]).expand(3, 2)}
    batch |= {"bonuses": torch.tensor([3.0, 0.0]).expand(3, 2)}  # the worse one is ahead
    plain = objective(model, batch, label_smoothing=0.1).loss.item()
    assert risk_objective(model, batch, label_smoothing=0.1).loss.item() == pytest.approx(plain)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    gains = []
    for _ in range(15):
        out = risk_objective(model, batch, risk_weight=30.0, mass_weight=1.0)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        gains.append(out.stats["gain"].item())
    assert gains[0] < 0.5 < 0.6 < gains[-1]  # 0.5 where both candidates have the same score


@pytest.fixture
def scoring_model() -> DAT:
    torch.manual_seed(0)
    return DAT(replace(CONFIG, n_scorer_layers=1))


def marked_batch() -> dict[str, Tensor]:
    ids = torch.tensor(
        [[[4, 9, 0], [5, 6, 7]], [[13, 0, 0], [10, 12, 0]], [[30, 31, 0], [0, 0, 0]]]
    )
    return make_batch() | {
        "candidate_ids": ids,
        "candidate_pieces": (ids != 0).sum(dim=2),
        "bonuses": torch.tensor([[0.4, 1.2], [0.0, 0.6], [0.3, 0.0]]),
        "gains": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
    }


def test_the_preference_of_the_scorer_is_the_one_written_out(scoring_model: DAT) -> None:
    batch = marked_batch()
    memory, mask = scoring_model.encode(batch["source_ids"])

    def score(row: int, words: Tensor) -> float:
        """Log-probability of words and their end, a step at a time."""
        total, ids = 0.0, [1]
        for word in [*words[words != 0].tolist(), 2]:
            hidden = scoring_model.read(
                torch.tensor([ids]), memory[row : row + 1], mask[row : row + 1]
            )
            logits = hidden[0, -1] @ scoring_model.embedding.weight[2:].T
            total += float(logits.log_softmax(dim=-1)[word - 2].detach())
            ids.append(word)
        return total

    expected, n_right = 0.0, 0
    for row, (better, worse) in enumerate([(0, 1), (1, 0)]):  # the third text has one candidate
        good, bad = (
            score(row, batch["candidate_ids"][row, k]) + float(batch["bonuses"][row, k])
            for k in (better, worse)
        )
        n_words = int((batch["target_ids"][row] != 0).sum())
        expected += n_words * math.log1p(math.exp((bad - good) / 2))
        n_right += good > bad
    without = risk_objective(scoring_model, batch)
    out = risk_objective(scoring_model, batch, preference_weight=3.0)
    added = float((out.loss - without.loss).detach() * out.n_tokens)
    assert added == pytest.approx(3 * expected, rel=1e-4)
    assert float(out.stats["prefers"]) == n_right / 2
    assert "prefers" not in without.stats


@pytest.fixture
def judging_model() -> DAT:
    torch.manual_seed(0)
    return DAT(replace(CONFIG, n_scorer_layers=1, verdict_width=8)).eval()


def test_the_verdict_is_the_one_written_out(judging_model: DAT) -> None:
    batch = marked_batch()
    memory, mask = judging_model.encode(batch["source_ids"])

    def logit(row: int, words: Tensor) -> float:
        """The verdict on words that are read alone."""
        ids = torch.tensor([[1, *words[words != 0].tolist()]])
        own, source = memory[row : row + 1], memory[row][mask[row]].mean(dim=0)
        states = judging_model.read(ids, own, mask[row : row + 1])[0]
        features = torch.cat([states[-1], states.mean(dim=0), source])
        verdict = judging_model.verdict
        assert verdict is not None
        return float(verdict.out(nn.functional.gelu(verdict.inner(features))).detach())

    expected, nats = 0.0, []
    for row in (0, 1):  # the third text has one candidate
        of_list = []
        for k, gain in enumerate(batch["gains"][row].tolist()):
            chance = 1 / (1 + math.exp(-logit(row, batch["candidate_ids"][row, k])))
            of_list.append(-gain * math.log(chance) - (1 - gain) * math.log(1 - chance))
        expected += int((batch["target_ids"][row] != 0).sum()) * sum(of_list) / 2
        nats += of_list
    without = risk_objective(judging_model, batch)
    out = risk_objective(judging_model, batch, verdict_weight=3.0)
    added = float((out.loss - without.loss).detach() * out.n_tokens)
    assert added == pytest.approx(3 * expected, rel=1e-4)
    assert float(out.stats["verdict"]) == pytest.approx(sum(nats) / 4, rel=1e-4)
    assert "verdict" not in without.stats


def test_the_verdict_is_learned(judging_model: DAT) -> None:
    batch = marked_batch()
    optimizer = torch.optim.Adam(judging_model.parameters(), lr=3e-3)
    nats = []
    for _ in range(100):
        out = risk_objective(judging_model, batch, verdict_weight=1.0)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        nats.append(float(out.stats["verdict"]))
    assert nats[-1] < 0.1 * nats[0]


def test_a_network_without_a_verdict_is_asked_for_none(scoring_model: DAT) -> None:
    with pytest.raises(ConfigError, match="has no verdict"):
        risk_objective(scoring_model, marked_batch(), verdict_weight=1.0)


def test_the_scorer_learns_what_is_preferred_and_keeps_its_reference(scoring_model: DAT) -> None:
    batch = marked_batch()
    optimizer = torch.optim.Adam(scoring_model.parameters(), lr=3e-3)
    records = []
    for _ in range(200):
        out = risk_objective(scoring_model, batch, scorer_weight=1.0, preference_weight=1.0)
        optimizer.zero_grad()
        out.loss.backward()
        optimizer.step()
        records.append((out.stats["prefers"].item(), out.stats["scorer"].item()))
    assert records[-1][0] == 1.0
    assert records[-1][1] < 0.5 * records[0][1]
