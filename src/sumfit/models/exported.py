"""Weights read back from an exported ONNX graph: what is shipped trains on, or runs on a GPU.

Owns the way back from the constants of `sumfit.models.export` to the parameters of
`sumfit.models.dat`. int8 weights come back as the numbers the exported graph multiplies with: a
network built from them differs from the graph only by the rounding of activations.

Two things are stored folded, and are unfolded here. The position part of the links is one table
``F = P W^T + b``; any ``P``, ``W`` and ``b`` with that product are the same function, and those of
a singular value decomposition are taken. The vertex inputs are stored after their norm,
``norm(mask + p_s)`` and ``norm(eos + p_s)``; positions and norm are those that give both tables
back, found by least squares from the source's norm.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from sumfit.errors import IncompatibleModelError, ModelFormatError, ModelNotFoundError
from sumfit.models.config import BOS, EOS, MASK, N_SPECIAL, SCORER_FILES, DATConfig
from sumfit.models.onnx_files import check_self_contained

__all__ = ["GRAPH_FILES", "exported_file", "exported_weights"]

GRAPH_FILES = ("model.fp32.onnx", "model.onnx")  # the exact one first
_INPUTS = ("source_ids", "vertex_mask", "row_ids")
_LARGEST_ERROR = 0.02  # of a vertex input, root mean square; int8 word rows give about 0.001
_ROUNDS = 400
# Weights of staying near the source's norm and the stored rows, where the tables leave them open.
_NEAR_NORM = 1e-2
_NEAR_ROWS = 6e-3


def exported_file(directory: str | os.PathLike[str]) -> Path | None:
    """Find the exported graph of a model directory.

    Args:
        directory: A model directory.

    Returns:
        The float32 graph if there is one, else the int8 one, else ``None``.
    """
    for name in GRAPH_FILES:
        file = Path(directory) / name
        if file.is_file():
            return file
    return None


def exported_weights(path: str | os.PathLike[str], config: DATConfig) -> dict[str, Tensor]:
    """Read the parameters of a network from the graph it was exported to.

    Args:
        path: The ONNX file, of either precision.
        config: The shape of the network.

    Returns:
        A state dict for `sumfit.models.DAT`, float32.

    Raises:
        ModelNotFoundError: If there is no such file.
        ModelFormatError: If it does not parse.
        IncompatibleModelError: If it is not an export of this architecture.
    """
    constants = _Constants(Path(path))
    weights = {"embedding.weight": constants.rows("embedding")}
    weights["source_entry.position.weight"] = constants.plain("source_position")
    for part in ("weight", "bias"):
        weights[f"source_entry.norm.{part}"] = constants.plain(f"source_norm.{part}")
    for stack, n_layers in (
        ("encoder", config.n_encoder_layers),
        ("decoder", config.n_decoder_layers),
    ):
        for index in range(n_layers):
            weights |= _block(constants, f"{stack}.{index}", config.width)
    weights |= _links(constants, config)
    weights |= _vertex_entry(constants, weights, config)
    if config.n_scorer_layers:
        weights |= _scorer(Path(path), config)
    return weights


def _scorer(graph: Path, config: DATConfig) -> dict[str, Tensor]:
    """The weights of the scorer, from its own file beside the graph's."""
    constants = _Constants(graph.with_name(SCORER_FILES.get(graph.name, "scorer.onnx")))
    position = torch.zeros(config.max_vertices, config.width)
    stored = constants.plain("position")[: config.max_vertices]
    position[: len(stored)] = stored
    weights = {"scorer_entry.position.weight": position}
    for part in ("weight", "bias"):
        weights[f"scorer_entry.norm.{part}"] = constants.plain(f"norm.{part}")
    for index in range(config.n_scorer_layers):
        weights |= _block(constants, f"scorer.{index}", config.width)
    if config.verdict_width and constants.has("verdict.inner"):
        for part in ("verdict.inner", "verdict.out"):
            weights[f"{part}.weight"] = constants.matrix(part)
            weights[f"{part}.bias"] = constants.plain(f"{part}.bias")
    return weights


class _Constants:
    """The constants of a graph by name, dequantised."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ModelNotFoundError(f"{path} is not there; give an exported model")
        check_self_contained(path, remedy="copy the model again")
        # Only here: training from a checkpoint needs no onnx.
        import onnx
        from onnx import numpy_helper

        try:
            graph = onnx.load(path).graph
        except Exception as error:  # protobuf's own error classes
            raise ModelFormatError(f"{path} is damaged ({error}); copy the model again") from error
        known = (*_INPUTS, "words", "places", "sees", "memory", "choices")
        extra = [value.name for value in graph.input if value.name not in known]
        if extra:  # the network reads more than this architecture, whatever its constants say
            raise IncompatibleModelError(
                f"{path} asks for {', '.join(extra)}, which this version of sumfit does not give; "
                "export a model without it"
            )
        self.path = path
        self._to_array = numpy_helper.to_array
        self._values = {
            tensor.name: tensor for tensor in graph.initializer if tensor.name is not None
        }

    def has(self, name: str) -> bool:
        """Return whether a constant is there."""
        return name in self._values

    def plain(self, name: str) -> Tensor:
        """A constant as float32."""
        if name not in self._values:
            raise IncompatibleModelError(
                f"{self.path} has no {name}: it was not exported from this architecture; "
                "use the config.json that came with it"
            )
        values = self._to_array(self._values[name])
        return torch.from_numpy(np.array(values, dtype=np.float32))

    def rows(self, name: str) -> Tensor:
        """A table ``(N, K)`` whose rows have a scale each if it is int8."""
        values = self.plain(name)
        return (
            values * self.plain(f"{name}.scale")[:, None] if self.has(f"{name}.scale") else values
        )

    def matrix(self, name: str) -> Tensor:
        """A weight as torch stores it, ``(N, K)``; the graph has it turned."""
        values = self.plain(name).T.contiguous()
        return (
            values * self.plain(f"{name}.scale")[:, None] if self.has(f"{name}.scale") else values
        )


def _block(constants: _Constants, name: str, width: int) -> dict[str, Tensor]:
    found = {
        "self_qkv.weight": constants.matrix(f"{name}.self_qkv"),
        "self_qkv.bias": constants.plain(f"{name}.self_qkv.bias"),
        "ffn_in.weight": constants.matrix(f"{name}.ffn_in"),
        "ffn_in.bias": constants.plain(f"{name}.ffn_in.bias"),
    }
    parts = ["self", "ffn"]
    if constants.has(f"{name}.cross_q"):
        parts.append("cross")
        bias = constants.plain(f"{name}.cross.bias")
        found["cross_q.weight"] = constants.matrix(f"{name}.cross_q")
        found["cross_kv.weight"] = constants.matrix(f"{name}.cross_kv")
        found["cross_q.bias"], found["cross_kv.bias"] = bias[:width], bias[width:]
    for part in parts:
        found[f"{part}_out.weight"] = constants.matrix(f"{name}.{part}.out")
        found[f"{part}_out.bias"] = constants.plain(f"{name}.{part}.out.bias")
        found[f"{part}_norm.weight"] = constants.plain(f"{name}.{part}.norm.weight")
        found[f"{part}_norm.bias"] = constants.plain(f"{name}.{part}.norm.bias")
    return {f"{name}.{key}": value.contiguous() for key, value in found.items()}


def _links(constants: _Constants, config: DATConfig) -> dict[str, Tensor]:
    width, n_heads = config.width, config.n_link_heads
    stretch = torch.ones(2 * width + n_heads, 1)
    stretch[: 2 * width] = (width // n_heads) ** -0.25
    of_hidden, table = constants.matrix("links"), constants.plain("links.position").double()
    shapes = (tuple(of_hidden.shape), tuple(table.shape))
    expected = ((len(stretch), width), (config.max_vertices, len(stretch)))
    if shapes != expected:
        raise IncompatibleModelError(
            f"{constants.path}: links and their positions are {shapes[0]} and {shapes[1]} there, "
            f"{expected[0]} and {expected[1]} in this architecture; use the config.json that came "
            "with it"
        )
    of_hidden, table = of_hidden / stretch, table / stretch[:, 0]
    bias = table.mean(dim=0)
    left, size, right = torch.linalg.svd(table - bias, full_matrices=False)
    root = size[:width].sqrt()
    position = torch.zeros(table.shape[0], width)
    of_position = torch.zeros(table.shape[1], width)
    position[:, : len(root)] = (left[:, :width] * root).float()
    of_position[:, : len(root)] = (right[:width].T * root).float()
    whole = torch.cat([of_hidden, of_position], dim=1)
    weights = {"links.position.weight": position}
    places = {"query": (0, width), "key": (width, 2 * width), "gate": (2 * width, len(bias))}
    for part, (first, last) in places.items():
        weights[f"links.{part}.weight"] = whole[first:last].contiguous()
        weights[f"links.{part}.bias"] = bias[first:last].float()
    return weights


def _vertex_entry(
    constants: _Constants, weights: dict[str, Tensor], config: DATConfig
) -> dict[str, Tensor]:
    words = weights["embedding.weight"].double()
    inner = constants.plain("vertex_inner").double()
    end = constants.plain("vertex_end").double()
    special = words[:N_SPECIAL]
    norm = [weights[f"source_entry.norm.{part}"].double() for part in ("weight", "bias")]
    special, position, scale, shift = _unfold(special, (inner, end), norm, config.layer_norm_eps)
    first, last = _fold(special, position, scale, shift, config.layer_norm_eps)
    error = float(torch.cat([first - inner, last - end]).square().mean().sqrt())
    if not error < _LARGEST_ERROR:
        raise IncompatibleModelError(
            f"{constants.path}: its vertex inputs are those of no layer norm (they differ by "
            f"{error:.3f}); export the model again with this version of sumfit"
        )
    embedding = weights["embedding.weight"].clone()
    embedding[:N_SPECIAL] = special.float()
    return {
        "embedding.weight": embedding,
        "vertex_entry.position.weight": position.float(),
        "vertex_entry.norm.weight": scale.float(),
        "vertex_entry.norm.bias": shift.float(),
    }


def _fold(
    special: Tensor, position: Tensor, scale: Tensor, shift: Tensor, eps: float
) -> tuple[Tensor, Tensor]:
    """Return what the export stores of vertex inputs: ``(P, D)`` inner and end vertices."""
    first = torch.cat([(special[BOS] + position[0])[None], special[MASK] + position[1:]])
    width = (position.shape[1],)
    return (
        F.layer_norm(first, width, scale, shift, eps),
        F.layer_norm(special[EOS] + position, width, scale, shift, eps),
    )


@torch.enable_grad()
def _unfold(
    special: Tensor, tables: tuple[Tensor, Tensor], norm: Sequence[Tensor], eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Find word rows, positions and a norm whose `_fold` gives two tables back.

    The rows of bos and eos may move by what int8 rounding took from them; that of mask is kept, as
    a shift of all three can be had from the positions too.
    """
    (inner, end), (scale, shift) = tables, norm
    # Under a norm that is known, both rows of a vertex fix its mean and deviation:
    # sigma z(inner) - sigma' z(end) + m = mask - eos.
    z_inner, z_end = (inner - shift) / scale, (end - shift) / scale
    system = torch.stack([z_inner, -z_end, torch.ones_like(z_inner)], dim=2)
    target = (special[MASK] - special[EOS]).expand_as(z_inner)[:, :, None]
    solution = torch.linalg.lstsq(system, target).solution[:, :, 0]
    position = solution[:, :1] * z_inner + solution[:, 2:] - special[MASK]
    position[0] = position[1]  # its inner row is the start's
    moved = torch.zeros_like(special[BOS:MASK])
    parts = [part.clone().requires_grad_() for part in (position, scale, shift, moved)]
    optimizer = torch.optim.LBFGS(
        parts, max_iter=_ROUNDS, history_size=20, line_search_fn="strong_wolfe",
        tolerance_grad=1e-9, tolerance_change=1e-12,
    )  # fmt: skip

    def rows() -> Tensor:
        return torch.cat([special[:BOS], special[BOS:MASK] + parts[3], special[MASK:]])

    def loss() -> Tensor:
        optimizer.zero_grad()
        first, last = _fold(rows(), parts[0], parts[1], parts[2], eps)
        off = (first - inner).square().sum() + (last - end).square().sum()
        drift = (parts[1] - scale).square().sum() + (parts[2] - shift).square().sum()
        total = off + _NEAR_NORM * drift + _NEAR_ROWS * parts[3].square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # many small steps: threads would wait for each other
    try:
        optimizer.step(loss)  # type: ignore[no-untyped-call]
    finally:
        torch.set_num_threads(n_threads)
    position, scale, shift = (part.detach() for part in parts[:3])
    return rows().detach(), position, scale, shift
