"""From a checkpoint to a model directory that the core runtime reads without torch.

Owns which files a model directory gets and where each comes from. Does not own the graph
(`sumfit.models.export`).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from sumfit.constraints.lexicon import Lexicon
from sumfit.errors import ConfigError, IncompatibleModelError, ModelFormatError
from sumfit.length import longest_pieces
from sumfit.models.checkpoint import read_architecture, require_system, save_weights
from sumfit.models.config import SCORER_FILES, architecture_differences
from sumfit.models.dat import DAT
from sumfit.models.export import export_onnx
from sumfit.models.export_scorer import export_scorer
from sumfit.models.manifest import write_manifest
from sumfit.options import WORDS_PER_VERTEX
from sumfit.runtime import LEXICON, RERANKER
from sumfit.text import Tokenizer
from sumfit.text.salience import SALIENCE_FILE
from sumfit.training.checkpoints import write_atomically
from sumfit.training.pieces import averaged_weights, require_directory

__all__ = ["export_model"]

_GRAPHS = {"int8": "model.onnx", "fp32": "model.fp32.onnx"}
_PINNED_WORDS = 48
# What the runtime reads; the recipe stays as the record of how the model was made.
_FIELDS = (
    "name",
    "tokenizer_sha256",
    "ending",
    "bonus",
    "unit_bonus",
    "mbr_weight",
    "mbr_temperature",
    "profiles",
    "scripts",
    "languages",
    "max_source",
    "controls",
    "recipe",
)
_SET_FILES = ("train", "valid", "test", "train_summaries", "valid_summaries")


def export_model(
    checkpoint: str | Path,
    output: str | Path,
    *,
    lexicon: str | Path | None = None,
    name: str = "",
    precisions: Sequence[Literal["int8", "fp32"]] = ("int8", "fp32"),
    words_per_vertex: int | None = None,
    pinned_words: int | None = None,
    keep_weights: bool = False,
    average_with: Sequence[str | Path] = (),
) -> Path:
    """Write a model directory from the averaged weights of a checkpoint.

    What is exported again, such as the embedded model, takes along its reranker and what else was
    fitted to it, unless its weights change.

    Args:
        checkpoint: A checkpoint folder, ``best``, or pieces joined again.
        output: Directory to make; one that exists keeps its lexicon and model card.
        lexicon: Lexicon file to copy, plain or ``.xz``; that of ``output``, the checkpoint or its
            run if not given.
        name: Name of the model; the recipe's if empty.
        precisions: Graphs to write.
        words_per_vertex: ``M``, words kept at each vertex; as many as the model that the training
            started from, else 5, if not given.
        pinned_words: ``P``, how many of the longest pieces are kept at all vertices; as many as
            that model, else 48, if not given.
        keep_weights: Also write ``model.safetensors`` (float16), for the torch backend.
        average_with: Further checkpoints of runs that started from the same weights. What is
            exported is the mean of all, each with the same share (Wortsman et al. 2022, "Model
            soups"); settings and files beside the weights are those of ``checkpoint``.

    Returns:
        The directory.

    Raises:
        ConfigError: If no precision, or one that is unknown, is asked for.
        ModelNotFoundError: If a checkpoint or the lexicon is not there.
        ModelFormatError: If a checkpoint lacks a file, or a file or the lexicon is damaged.
        IncompatibleModelError: If one is of a system other than the DAT, or the checkpoints to
            average differ in architecture or tokenizer.
    """
    checkpoint, output = Path(checkpoint), Path(output)
    unknown = [value for value in precisions if value not in _GRAPHS]
    if unknown or not precisions:
        raise ConfigError(f"precisions must be among int8, fp32, were {list(precisions)}")
    words = _lexicon_file(checkpoint, output, lexicon)
    weights = _mean_weights([checkpoint, *map(Path, average_with)])
    model, fields = _loaded(checkpoint, weights)
    if not (checkpoint / "tokenizer.json").is_file():
        raise ModelFormatError(f"{checkpoint} holds no tokenizer.json; give a checkpoint")
    if words_per_vertex is None:
        words_per_vertex = int(fields.get("words_per_vertex", WORDS_PER_VERTEX))
    if pinned_words is None:
        pinned_words = int(fields.get("pinned_words", _PINNED_WORDS))
    pinned_ids = longest_pieces(Tokenizer.from_file(checkpoint / "tokenizer.json"), pinned_words)
    config = _runtime_fields(fields, name or fields.get("name", output.name))
    config |= {"words_per_vertex": words_per_vertex, "pinned_words": len(pinned_ids)}
    if "confidence" in fields and not average_with:  # of these weights alone
        config["confidence"] = fields["confidence"]

    def fill(part: Path) -> None:
        for precision in precisions:
            export_onnx(
                model,
                part / _GRAPHS[precision],
                words_per_vertex=words_per_vertex,
                pinned_ids=pinned_ids.tolist(),
                precision=precision,
            )
            if model.config.n_scorer_layers:
                export_scorer(model, part / SCORER_FILES[_GRAPHS[precision]], precision=precision)
        text = json.dumps(config, indent=2, ensure_ascii=False)
        (part / "config.json").write_text(text + "\n", encoding="utf-8")
        if keep_weights:
            save_weights(weights, part / "model.safetensors", dtype=torch.float16)
        _take_along(checkpoint, output, part, words, is_same=not average_with)
        write_manifest(part)

    write_atomically(output, fill)
    return output


def _runtime_fields(fields: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What the ``config.json`` of a model takes over from its checkpoint's."""
    config: dict[str, Any] = {"format": fields["format"]}
    config |= {key: fields[key] for key in _FIELDS if key in fields}
    if isinstance(config.get("recipe"), Mapping):
        config["recipe"] = _portable(config["recipe"])
    return config | {"name": name, "architecture": fields["architecture"]}


def _portable(values: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe without the directories of the machine it ran on.

    The files of sets keep their names, which tell what the model has seen.
    """
    result: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, Mapping):
            result[key] = _portable(value)
        elif isinstance(value, list):
            kept = [item for item in value if not _is_of_machine(item)]
            result[key] = [_portable(item) if isinstance(item, Mapping) else item for item in kept]
        elif _is_of_machine(value):
            result[key] = Path(value).name if key in _SET_FILES else ""
        else:
            result[key] = value
    return result


def _is_of_machine(value: object) -> bool:
    return isinstance(value, str) and Path(value).is_absolute()


def _mean_weights(checkpoints: Sequence[Path]) -> dict[str, Tensor]:
    """The mean of the weights of checkpoints; of a single one its own, even from a graph."""
    first = checkpoints[0]
    for place in checkpoints:
        require_directory(place)
    weights = averaged_weights(first)
    if len(checkpoints) == 1:
        return weights
    sums = {name: value.double() for name, value in weights.items()}
    for place in checkpoints:
        if not (place / "model.safetensors").is_file():
            raise ModelFormatError(
                f"{place} holds no model.safetensors: weights that were read back from a graph "
                "cannot be averaged with others; give the checkpoint it was exported from"
            )
        _require_alike(first, place)
        if place is not first:
            for name, value in averaged_weights(place).items():
                sums[name] += value.double()
    return {name: (value / len(checkpoints)).float() for name, value in sums.items()}


def _require_alike(first: Path, other: Path) -> None:
    """Raise unless the weights of all checkpoints mean the same."""
    there, here = read_architecture(other), read_architecture(first)
    if found := architecture_differences(there, here, DAT.system, may_adjust=False):
        raise IncompatibleModelError(
            f"{other} has another architecture than {first}: {found}; average runs that started "
            "from the same weights"
        )
    tokenizers = [(place / "tokenizer.json").read_bytes() for place in (first, other)]
    if tokenizers[0] != tokenizers[1]:
        raise IncompatibleModelError(f"{other} has another tokenizer than {first}")


def _lexicon_file(checkpoint: Path, output: Path, lexicon: str | Path | None) -> Path | None:
    """The lexicon that goes with a model, read once to see that it can be; ``None`` for none."""
    folders = (output, checkpoint, checkpoint.parent)
    known = [Path(lexicon)] if lexicon else [folder / LEXICON for folder in folders]
    found = next((file for file in known if lexicon or file.is_file()), None)
    if found is not None:
        Lexicon.load(found)
    return found


def _take_along(
    checkpoint: Path, output: Path, part: Path, lexicon: Path | None, *, is_same: bool
) -> None:
    """Copy what lies beside the weights: tokenizer, lexicon, what was fitted to them, the card."""
    shutil.copyfile(checkpoint / "tokenizer.json", part / "tokenizer.json")
    if lexicon is not None and lexicon.suffix == Path(LEXICON).suffix:
        shutil.copyfile(lexicon, part / LEXICON)
    elif lexicon is not None:
        Lexicon.load(lexicon).save(part / LEXICON)
    if is_same and (checkpoint / RERANKER).is_dir():  # it learned from lists of these weights
        shutil.copytree(checkpoint / RERANKER, part / RERANKER)
    if is_same and (checkpoint / SALIENCE_FILE).is_file():  # it is fitted to their states
        shutil.copyfile(checkpoint / SALIENCE_FILE, part / SALIENCE_FILE)
    if (output / "README.md").is_file():
        shutil.copyfile(output / "README.md", part / "README.md")


def _loaded(checkpoint: Path, weights: Mapping[str, Tensor]) -> tuple[DAT, dict[str, Any]]:
    """The network with these weights, and the fields of its ``config.json``."""
    require_system(checkpoint, DAT.system)
    model = DAT(read_architecture(checkpoint))
    try:
        model.load_state_dict({key: value.float() for key, value in weights.items()})
        fields = json.loads((checkpoint / "config.json").read_text(encoding="utf-8"))
    except (RuntimeError, ValueError) as error:
        raise ModelFormatError(f"{checkpoint} is damaged: {error}") from error
    model.eval()
    return model, fields
