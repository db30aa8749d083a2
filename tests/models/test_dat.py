"""Laws of the network's graph, and independence of an item from its batch."""

from __future__ import annotations

import pytest
import torch

from sumfit.errors import ConfigError
from sumfit.models import DAT, DATConfig
from sumfit.models.config import BOS, EOS, MASK, N_SPECIAL, PAD

SMALL = DATConfig(
    vocab_size=50,
    width=16,
    n_heads=4,
    n_link_heads=2,
    ffn_width=32,
    n_encoder_layers=2,
    n_decoder_layers=2,
    max_source_tokens=24,
    min_vertices=8,
    max_vertices=24,
)


@pytest.fixture
def model() -> DAT:
    torch.manual_seed(0)
    return DAT(SMALL).eval()


@pytest.fixture
def source() -> torch.Tensor:
    return torch.tensor([[5, 6, 7, 8, 9, 10], [11, 12, 13, 0, 0, 0]])


def test_links_and_words_are_distributions_over_what_is_allowed(
    model: DAT, source: torch.Tensor
) -> None:
    n_vertices = torch.tensor([12, 8])
    with torch.no_grad():
        word_logp, link_logp = model(source, model.vertex_mask(n_vertices))
    assert word_logp.dtype == link_logp.dtype == torch.float32
    assert word_logp[..., :N_SPECIAL].eq(-torch.inf).all()
    torch.testing.assert_close(word_logp.exp().sum(-1), torch.ones(2, 16))
    for item, size in enumerate(n_vertices.tolist()):
        links = link_logp[item].exp()
        torch.testing.assert_close(links[: size - 1].sum(-1), torch.ones(size - 1))
        assert links[size - 1 :].eq(0).all()
        assert links[:, size:].eq(0).all()
        assert links.tril().eq(0).all()
        assert link_logp[item][:size, :size].triu(1)[0, 1:].isfinite().all()


def test_an_item_does_not_depend_on_its_batch(model: DAT, source: torch.Tensor) -> None:
    mask = model.vertex_mask(torch.tensor([12, 8]))
    with torch.no_grad():
        both = model(source, mask)
        alone = model(source[1:, :3], mask[1:, :8])
    torch.testing.assert_close(both[0][1, :8], alone[0][0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(both[1][1, :8, :8], alone[1][0], rtol=1e-4, atol=1e-5)


def test_link_heads_are_mixed_in_probability_space(model: DAT) -> None:
    links = model.links
    hidden = torch.sin(torch.arange(5 * 16.0)).view(1, 5, 16)
    mask = torch.ones(1, 5, dtype=torch.bool)
    with torch.no_grad():
        features = torch.cat([hidden[0], links.position.weight[:5]], dim=-1)
        query, key = links.query(features).view(5, 2, 8), links.key(features).view(5, 2, 8)
        gate = links.gate(features).softmax(-1)
        for i in range(4):
            expected = torch.zeros(5)
            for head in range(2):
                scores = torch.stack([query[i, head] @ key[j, head] for j in range(i + 1, 5)])
                expected[i + 1 :] += gate[i, head] * (scores / 8**0.5).softmax(0)
            torch.testing.assert_close(links(hidden, mask)[0, i].exp(), expected)


def test_gradients_are_finite_where_rows_have_no_link(model: DAT, source: torch.Tensor) -> None:
    _, link_logp = model(source, model.vertex_mask(torch.tensor([12, 8])))
    link_logp.masked_fill(link_logp == -torch.inf, 0.0).sum().backward()
    for name, parameter in model.links.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name


def test_decoder_reads_bos_masks_and_eos(model: DAT) -> None:
    ids = model.vertex_ids(model.vertex_mask(torch.tensor([8, 5])))
    assert ids[0].tolist() == [BOS, *[MASK] * 6, EOS]
    assert ids[1].tolist() == [BOS, *[MASK] * 3, EOS, PAD, PAD, PAD]


@pytest.mark.parametrize(
    ("n_source", "at_least", "expected"), [(1, 0, 8), (10, 0, 10), (10, 15, 15), (99, 99, 24)]
)
def test_graph_size_is_the_clamped_source_length(
    n_source: int, at_least: int, expected: int
) -> None:
    assert SMALL.n_vertices(n_source, at_least=at_least) == expected


def test_graph_size_rounds_up() -> None:
    config = DATConfig.from_dict({**SMALL.to_dict(), "vertex_scale": 1.5})
    assert config.n_vertices(7) == 11


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"width": 10, "n_heads": 4, "n_link_heads": 5}, "width 10 must be a multiple of n_heads"),
        ({"vocab_size": 4}, "vocab_size must be at least 5, was 4"),
        ({"dropout": 1.0}, r"dropout must be in \[0, 1\), was 1.0"),
        ({"min_vertices": 9, "max_vertices": 8}, "max_vertices 8 is below min_vertices 9"),
        ({"vertex_scale": 0.0}, "vertex_scale must be above 0, was 0.0"),
        ({"depth": 3}, "unknown architecture field 'depth'"),
        ({"width": "wide"}, "width must be int, was 'wide'"),
    ],
)
def test_impossible_shapes_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DATConfig.from_dict(fields)


def test_config_survives_its_dict() -> None:
    assert DATConfig.from_dict(SMALL.to_dict()) == SMALL
