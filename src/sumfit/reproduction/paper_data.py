"""Test sets of the paper in the layouts that people have them in.

Owns finding sources and references below ``--data``. Layouts, tried in this order:

* a file of pairs (JSONL, CSV, TSV, Parquet; ``summaries`` for several references);
* a directory with ``input.txt`` and ``task1_ref0.txt`` (``task1_ref1.txt`` ...), one item a line,
  as the common release of Gigaword and DUC 2004 has them;
* a directory with ``test.src.txt`` and ``test.tgt.txt``, or ``test.source`` and ``test.target``,
  or ``test.article`` and ``test.title``, or the first two forms with ``test.article.txt``;
* a directory with ``sources/`` and ``references/``, one text a file, as DUC ships them: a
  reference belongs to the source whose name its own name contains.
"""

from __future__ import annotations

from pathlib import Path

from sumfit.errors import ConfigError, DataFormatError
from sumfit.evaluation.files import ReferenceItem, check_paired, read_references, read_sources
from sumfit.reproduction.runs import EvaluationSet, spread

__all__ = ["read_test_set"]

_PARALLEL = (
    ("test.src.txt", "test.tgt.txt"),
    ("test.source", "test.target"),
    ("test.article", "test.title"),
    ("test.article.txt", "test.title.txt"),
)


def read_test_set(data: Path, *, first: int | None = None) -> EvaluationSet:
    """Read a test set in any known layout.

    Args:
        data: File or directory.
        first: Take so many items, spread evenly; all if ``None``.

    Returns:
        The set.

    Raises:
        ConfigError: If the layout is not known.
        DataFormatError: If sources and references do not pair, or one is empty.
    """
    if data.is_file():
        return EvaluationSet.read(data, first=first)
    if not data.is_dir():
        raise ConfigError(f"{data} does not exist; give a file of pairs or a directory")
    if (data / "input.txt").exists():
        references = sorted(data.glob("task1_ref*.txt"))
        if not references:
            raise ConfigError(f"{data} has input.txt but no task1_ref0.txt")
        return _parallel(data, data / "input.txt", references, first)
    for source, target in _PARALLEL:
        if (data / source).exists() and (data / target).exists():
            return _parallel(data, data / source, [data / target], first)
    if (data / "sources").is_dir() and (data / "references").is_dir():
        return _one_file_each(data, first)
    raise ConfigError(
        f"{data} has no known layout: input.txt with task1_ref0.txt, "
        f"{', '.join(' with '.join(pair) for pair in _PARALLEL)}, or sources/ with references/"
    )


def _parallel(data: Path, source: Path, references: list[Path], first: int | None) -> EvaluationSet:
    texts = read_sources(source, format="lines")
    gold = read_references(references, format="lines")
    placed = [ReferenceItem((text,), f"{source}:{i}") for i, text in enumerate(texts, 1)]
    check_paired(placed, gold, names=(f"sources in {source}", f"references in {references[0]}"))
    pairs = [(text, item.texts) for text, item in zip(texts, gold, strict=True)]
    return _thinned(data.name, pairs, first)


def _one_file_each(data: Path, first: int | None) -> EvaluationSet:
    sources = {path.stem: _read(path) for path in _files(data / "sources")}
    references: dict[str, list[str]] = {name: [] for name in sources}
    for path in _files(data / "references"):
        owners = [name for name in sources if name in path.name]
        if not owners:
            raise DataFormatError(f"{path} belongs to no source: none has a name within its name")
        references[max(owners, key=len)].append(_read(path))
    bare = [name for name, texts in references.items() if not texts]
    if bare:
        raise DataFormatError(f"{data / 'sources' / bare[0]} has no reference")
    pairs = [(sources[name], tuple(references[name])) for name in sorted(sources)]
    return _thinned(data.name, pairs, first)


def _files(directory: Path) -> list[Path]:
    found = sorted(path for path in directory.iterdir() if path.is_file())
    if not found:
        raise DataFormatError(f"{directory} holds no file")
    return found


def _read(path: Path) -> str:
    try:
        text = " ".join(path.read_bytes().decode("utf-8").split())
    except UnicodeDecodeError as error:
        raise DataFormatError(f"{path} is not UTF-8 at byte {error.start}; convert it") from error
    if not text:
        raise DataFormatError(f"{path} is empty")
    return text


def _thinned(
    name: str, pairs: list[tuple[str, tuple[str, ...]]], first: int | None
) -> EvaluationSet:
    pairs = spread(pairs, first)
    return EvaluationSet(name, tuple(s for s, _ in pairs), tuple(r for _, r in pairs))
