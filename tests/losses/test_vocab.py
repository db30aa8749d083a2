"""Word scores against a dense log-softmax."""

from __future__ import annotations

import pytest
import torch

from sumfit.losses import guess_words, score_words, vocab


@pytest.mark.parametrize(("slice_elements", "kept"), [(40, 1 << 31), (40, 0), (1 << 29, 1 << 31)])
def test_scores_and_gradients_equal_dense_log_softmax(
    slice_elements: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vocab, "_MAX_SLICE_ELEMENTS", slice_elements)
    monkeypatch.setattr(vocab, "_MAX_KEPT_ELEMENTS", kept)
    gen = torch.Generator().manual_seed(0)
    hidden = torch.randn(2, 5, 6, generator=gen)
    weight = torch.randn(11, 6, generator=gen)
    targets = torch.randint(4, 11, (2, 3), generator=gen)
    weigh_match = torch.randn(2, 5, 3, generator=gen)
    weigh_uniform = torch.randn(2, 5, generator=gen)

    def run(dense: bool) -> list[torch.Tensor]:
        h, w = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
        if dense:
            logp = (h @ w[4:].T).log_softmax(-1)
            match = logp.gather(2, (targets - 4)[:, None, :].expand(2, 5, 3))
            uniform = -logp.mean(-1)
        else:
            match, uniform = score_words(h, w, targets, n_special=4)
        ((match * weigh_match).sum() + (uniform * weigh_uniform).sum()).backward()
        assert h.grad is not None
        assert w.grad is not None
        return [match.detach(), uniform.detach(), h.grad, w.grad]

    for ours, theirs in zip(run(False), run(True), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    guesses = guess_words(hidden, weight, targets, n_special=4)
    assert guesses.best.equal((hidden @ weight[4:].T).argmax(-1) + 4)
    torch.testing.assert_close(guesses.match_logp, run(True)[0])
