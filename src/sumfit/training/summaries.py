"""Summaries of validation texts: PathMAP on the CPU, from graphs of the model in training.

Owns the shortest way from a batch to texts. Does not own the full pipeline (`sumfit.pipeline`),
which needs an exported model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from sumfit.dag import DAG
from sumfit.data.batching import Batch
from sumfit.decoding import decode
from sumfit.errors import InfeasibleBudgetError
from sumfit.length import LengthBudget, unit_costs
from sumfit.length.units.words import UNIT as WORDS
from sumfit.models.dat import DAT
from sumfit.options import WORDS_PER_VERTEX
from sumfit.runtime.graph import fold
from sumfit.text import Tokenizer

__all__ = ["summarize"]


def summarize(model: DAT, batch: Batch, tokenizer: Tokenizer, budgets: Sequence[int]) -> list[str]:
    """Decode texts to exactly a number of words, or at most it where that cannot be.

    Args:
        model: The network, in evaluation mode.
        batch: The texts.
        tokenizer: Its tokenizer.
        budgets: Words for each text.

    Returns:
        One summary for each; empty where the budget cannot be met at all.
    """
    costs = unit_costs(tokenizer, WORDS)
    summaries = []
    for dag, n_words in zip(_graphs(model, batch), budgets, strict=True):
        summaries.append("")
        for budget in (LengthBudget(exact=n_words), LengthBudget(max=n_words)):
            try:
                best = decode(
                    dag,
                    unit_cost=costs.cost,
                    first_cost=costs.first_cost,
                    budget=budget,
                    method="pathmap",
                ).best
            except InfeasibleBudgetError:
                continue
            summaries[-1] = tokenizer.decode(best.words)
            break
    return summaries


def _graphs(model: DAT, batch: Batch) -> Iterator[DAG]:
    device = model.embedding.weight.device
    source_ids = torch.from_numpy(batch.source_ids).to(device)
    mask = torch.from_numpy(batch.vertex_mask).to(device)
    with torch.no_grad():
        word_logp, link_logp = model(source_ids, mask)
        top_logp, top_ids = word_logp.float().topk(WORDS_PER_VERTEX, dim=-1)
    for row, n_vertices in enumerate(batch.n_vertices.tolist()):
        kept = top_ids[row, :n_vertices]
        words = word_logp[row, :n_vertices].float().index_select(1, kept.flatten())
        yield fold(
            top_ids=kept.cpu().numpy(),
            cand_logp=words.cpu().numpy(),
            other_logp=top_logp[row, :n_vertices, -1].cpu().numpy(),
            link_logp=link_logp[row, :n_vertices, :n_vertices].float().cpu().numpy(),
            vocab_size=word_logp.shape[-1],
        )
