"""From text files to what training reads: the tokenizer and the packed corpus.

Owns sampling the training texts for a tokenizer and making a corpus where a recipe has none.
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sumfit.data.corpus import is_packed, read_meta
from sumfit.data.packing import PackReport, pack_corpus
from sumfit.data.sets import SetSpec, missing_files, read_set
from sumfit.errors import ConfigError, IncompatibleModelError
from sumfit.processors import checked_workers
from sumfit.runtime import LEXICON
from sumfit.text import Tokenizer, get_profile, normalize
from sumfit.text.scripts import scripts_of
from sumfit.training.recipe import Recipe
from sumfit.training.start import start_lexicon, tokenizer_file

if TYPE_CHECKING:
    from sumfit.constraints.lexicon import Lexicon

__all__ = ["build_lexicon", "ensure_corpus", "keep_lexicon", "pack", "train_tokenizer"]

logger = logging.getLogger(__name__)
_RARE_SCRIPT = 0.01  # share of the words
_LETTER_WORDS = frozenset("aAI")
_BLOCK = 64  # pairs taken in a row when a set is thinned out


def train_tokenizer(recipe: Recipe, *, max_pairs: int = 200_000) -> Tokenizer:
    """Learn a tokenizer from the training texts of a recipe, every set in its profiles.

    Args:
        recipe: Names the sets and the vocabulary size.
        max_pairs: Pairs of each set that are read at most, spread over the first ten times as
            many.

    Returns:
        The tokenizer.

    Raises:
        ConfigError: If files are missing.
    """
    data_dir = Path(recipe.data_dir)
    problems = missing_files(recipe.data.sets, data_dir)
    if problems:
        raise ConfigError("\n".join(problems))
    texts = itertools.chain.from_iterable(
        _texts(spec, data_dir, recipe, max_pairs) for spec in recipe.data.sets
    )
    return Tokenizer.train(texts, vocab_size=recipe.data.vocab_size)


def build_lexicon(recipe: Recipe, *, min_count: int = 2) -> Lexicon:
    """Collect the words of the training texts of a recipe.

    Where a set is packed in Gigaword form, its words are taken in lower case as well. Left out are
    single letters (but "a", "A" and "I"), which a model would use to stutter, and words in writing
    systems that make less than a hundredth of the text; a summary may take either from its source.

    Args:
        recipe: Names the sets.
        min_count: Least number of times a word must occur; about 20 for a million pairs, as rarer
            strings are mostly misspelt or cut.

    Returns:
        The lexicon.
    """
    # Only here: decoders are many imports for a run that trains.
    from sumfit.constraints.lexicon import WORD_PATTERN, Lexicon

    total: Counter[str] = Counter()
    for spec in recipe.data.sets:
        count: Counter[str] = Counter()
        for pair in read_set(spec, "train", Path(recipe.data_dir), recipe.data.on_bad):
            for text in (pair.source, *pair.summaries):
                count.update(WORD_PATTERN.findall(normalize(text)))
        total.update(count)
        if any(entry.profile == "gigaword" for entry in spec.packed_sets):
            lowered = Counter[str]()
            for word, times in count.items():
                if word != word.lower():
                    lowered[word.lower()] += times
            total.update(lowered)
    often = {word: times for word, times in total.items() if times >= min_count}
    scripts = {word: set(scripts_of(word)) for word in often}
    weight: Counter[str] = Counter()
    for word, times in often.items():
        weight.update(dict.fromkeys(scripts[word], times))
    rare = {script for script, n in weight.items() if n < _RARE_SCRIPT * sum(often.values())}
    return Lexicon.from_words(
        word
        for word in often
        if not scripts[word] & rare
        and (len(word) > 1 or word.lower() == word.upper() or word in _LETTER_WORDS)
    )


def keep_lexicon(recipe: Recipe) -> Path | None:
    """Write the lexicon of the model that a run starts from, with the words of the run's own texts.

    `sumfit.training.export` takes it from the run's directory. Where the run starts from no model
    with a lexicon, or its lexicon is there already, nothing is written.

    Args:
        recipe: Names the model and the sets.

    Returns:
        The file, if there is one now.
    """
    file = recipe.output / LEXICON
    if file.exists():
        return file
    lexicon = start_lexicon(recipe.start.model)
    if lexicon is None:
        return None
    words = set(lexicon)
    if not missing_files(recipe.data.sets, Path(recipe.data_dir)):
        words.update(build_lexicon(recipe))
    recipe.output.mkdir(parents=True, exist_ok=True)
    type(lexicon).from_bytes(words).save(file)
    return file


def pack(
    recipe: Recipe,
    *,
    output: Path | None = None,
    n_workers: int = 0,
    on_progress: Callable[[str, int], None] | None = None,
) -> PackReport:
    """Make the packed corpus of a recipe, training the tokenizer first if it names none.

    Args:
        recipe: Names sets, tokenizer and filters.
        output: Directory to make; the recipe's own if not given.
        n_workers: Worker processes; 0 for one per core.
        on_progress: Called with the name of a set and the number of its pairs just done.

    Returns:
        What was kept and dropped.

    Raises:
        ConfigError: If there are far more workers than processors.
    """
    n_workers = checked_workers(n_workers)
    output = output or recipe.corpus
    tokenizer_path = tokenizer_file(recipe.data.tokenizer)
    if tokenizer_path is None:
        output.mkdir(parents=True, exist_ok=True)
        tokenizer_path = output / "tokenizer.json"
        train_tokenizer(recipe).save(tokenizer_path)
    return pack_corpus(
        recipe.data.sets,
        data_dir=recipe.data_dir,
        tokenizer_path=tokenizer_path,
        output=output,
        options=recipe.pack_options,
        n_workers=n_workers,
        on_progress=on_progress,
    )


def ensure_corpus(recipe: Recipe, *, n_workers: int = 0) -> Tokenizer:
    """Make the corpus if it is not there yet, and check that its tokenizer belongs to it.

    Args:
        recipe: The recipe.
        n_workers: Worker processes for packing; 0 for one per core.

    Returns:
        The tokenizer of the corpus.

    Raises:
        IncompatibleModelError: If corpus and tokenizer are not from one packing.
    """
    directory = recipe.corpus
    if not is_packed(directory):
        logger.info("packing %d sets into %s", len(recipe.data.sets), directory)
        report = pack(recipe, n_workers=n_workers)
        for line in report.lines():
            logger.info("%s", line)
    meta = read_meta(directory)
    tokenizer = Tokenizer.from_file(directory / "tokenizer.json")
    if tokenizer.fingerprint != meta.tokenizer_sha256:
        raise IncompatibleModelError(
            f"{directory}/tokenizer.json is not the tokenizer that packed it "
            f"({tokenizer.fingerprint[:12]} against {meta.tokenizer_sha256[:12]}); pack again"
        )
    return tokenizer


def _texts(spec: SetSpec, data_dir: Path, recipe: Recipe, max_pairs: int) -> Iterator[str]:
    profiles = [get_profile(entry.profile) for entry in spec.packed_sets]
    pairs = read_set(spec, "train", data_dir, recipe.data.on_bad)
    n_taken = 0
    while block := list(itertools.islice(pairs, _BLOCK)):
        n_taken += len(block)
        if n_taken > max_pairs:
            return
        for pair in block:
            for profile in profiles:
                yield profile.apply_source(pair.source)
                for summary in pair.summaries:
                    yield profile.apply_summary(summary)
