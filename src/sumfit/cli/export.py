"""``sumfit export``: a model directory for the runtime, from a checkpoint."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sumfit.errors import ConfigError

__all__ = ["export"]

_Others = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="CHECKPOINT",
        help="Export the mean of the weights of CHECKPOINT and this one, of a run that started "
        "from the same weights; may be given several times.",
    ),
]
_OnlyManifest = Annotated[
    bool,
    typer.Option(
        "--only-manifest",
        help="Only write manifest.json, the digests of the files that stand in CHECKPOINT now.",
    ),
]


def export(
    checkpoint: Annotated[
        Path,
        typer.Argument(
            help="Checkpoint folder, model directory, folder of weights-NN.safetensors, "
            "or default for the embedded model."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Directory to write; CHECKPOINT/exported by default."),
    ] = None,
    lexicon: Annotated[
        Path | None, typer.Option(help="Words of the training text; see sumfit data lexicon.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the model; the recipe's by default.")] = "",
    precision: Annotated[
        Literal["both", "int8", "fp32"], typer.Option(help="Which graphs to write.")
    ] = "both",
    words_per_vertex: Annotated[
        int | None,
        typer.Option(help="Words kept at each vertex of the graph; 5 by default.", min=1),
    ] = None,
    pinned_words: Annotated[
        int | None,
        typer.Option(
            help="Longest pieces kept at all vertices of the graph; 48 by default.", min=0
        ),
    ] = None,
    keep_weights: Annotated[
        bool, typer.Option("--keep-weights", help="Also write float16 weights, for GPUs.")
    ] = False,
    average_with: _Others = None,
    only_manifest: _OnlyManifest = False,
) -> None:
    """Turn a checkpoint of a summarizer or a reranker into a directory that runs without torch.

    A model whose files are no longer those of its manifest is refused; after a change of your own,
    sumfit export DIR --only-manifest
    """
    if only_manifest:
        print(_only_manifest(checkpoint, output))
        return
    graphs = ("int8", "fp32") if precision == "both" else (precision,)
    common: dict[str, Any] = {"name": name, "precisions": graphs, "keep_weights": keep_weights}
    sizes = {"words_per_vertex": words_per_vertex, "pinned_words": pinned_words}
    target = _export(checkpoint, output, average_with or [], common, {"lexicon": lexicon, **sizes})
    _list_files(target)
    print(target)


def _only_manifest(directory: Path, output: Path | None) -> Path:
    from sumfit.models.manifest import write_manifest

    if output is not None:
        raise ConfigError("--only-manifest writes into the directory itself; leave --output out")
    if not (directory / "config.json").is_file():
        raise ConfigError(f"{directory} holds no config.json; give the directory of a model")
    return write_manifest(directory)


def _export(
    checkpoint: Path,
    output: Path | None,
    others: list[Path],
    common: dict[str, Any],
    graph: dict[str, Any],
) -> Path:
    """Export what lies there, a summarizer or a reranker; return the directory."""
    from sumfit.training.export import export_model
    from sumfit.training.reranking.files import export_reranker, is_reranker

    folder = _folder(checkpoint, has_output=output is not None)
    output = output or folder / "exported"
    if not is_reranker(folder):
        others = [_folder(place, has_output=True) for place in others]
        return export_model(folder, output, average_with=others, **graph, **common)
    if others:
        raise ConfigError("--average-with is for summarizers, and this is a reranker")
    return export_reranker(folder, output, **common)


def _list_files(folder: Path) -> None:
    """Say how large each file of a folder is."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        mebibytes = file.stat().st_size / 2**20
        print(f"{mebibytes:8.2f} MiB  {file.relative_to(folder)}", file=sys.stderr)


def _folder(checkpoint: Path, *, has_output: bool) -> Path:
    """The folder that the argument means, its weights in one file."""
    from sumfit.training.pieces import join_pieces
    from sumfit.training.start import start_directory

    folder = start_directory(str(checkpoint))
    if not has_output and folder != checkpoint:
        raise ConfigError("the embedded model is exported to where --output says; give it")
    if not (folder / "model.safetensors").exists() and any(folder.glob("weights-*.safetensors")):
        folder = join_pieces(folder, folder)
    return folder
