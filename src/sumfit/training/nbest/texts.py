"""The texts that n-best lists are made of: from a packed corpus or a file of pairs.

Owns which texts a spec names, their limits and the fingerprint of it all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sumfit.data.corpus import PackedCorpus, ValidText, read_valid_texts
from sumfit.data.folds import Fold, fold_of_text, folds_of_corpus
from sumfit.data.readers import read_pairs
from sumfit.errors import ConfigError, IncompatibleModelError
from sumfit.length import resolve_budget
from sumfit.runtime.directory import ModelDirectory
from sumfit.text import get_profile, normalize
from sumfit.training.nbest.spec import LIMITS, NbestSpec, interval
from sumfit.training.nbest.worker import Item

__all__ = ["Texts"]

IntArray = npt.NDArray[np.int64]


class Texts:
    """The texts of a spec, in order.

    Attributes:
        places: ``(N,)`` places in the data.
        profiles: Text profiles among them.
        fingerprint: Of the texts and their order.
        about: What the data is, for the record.
    """

    places: IntArray
    profiles: tuple[str, ...]
    fingerprint: str
    about: str

    def __init__(self, spec: NbestSpec, model: ModelDirectory) -> None:
        """Choose the texts.

        Args:
            spec: Says which.
            model: For its tokenizer and longest source.

        Raises:
            ConfigError: If nothing is left, or a profile or set is not there.
            IncompatibleModelError: If the corpus is in another tokenizer's pieces.
        """
        self._spec = spec
        self._model = model
        self._valid: list[ValidText] = []
        self._corpus: PackedCorpus | None = None
        if spec.corpus:
            chosen = self._of_corpus()
        else:
            chosen = self._of_file()
        if spec.max_items and len(chosen) > spec.max_items:
            rng = np.random.default_rng((spec.seed, 1))
            chosen = np.sort(rng.choice(chosen, spec.max_items, replace=False))
        if not len(chosen):
            raise ConfigError(f"no text of {spec.corpus or spec.data} is left; loosen the choice")
        # Shuffled, so that a part is a fair sample and an unfinished directory is usable.
        self.places = np.random.default_rng((spec.seed, 2)).permutation(chosen)

    def items(self, numbers: Sequence[int]) -> list[Item]:
        """Take some texts with their limits.

        Args:
            numbers: Which, counted in `places`.

        Returns:
            The texts.
        """
        return [self._item(int(self.places[number])) for number in numbers]

    def _item(self, place: int) -> Item:
        tokenizer = self._model.tokenizer
        if self._corpus is None:
            source, references = self._pairs[place]
            ids = tuple(tokenizer.encode(source)[: self._model.most_read])
        else:
            source_ids, target_ids = self._corpus.item(place)
            ids = tuple(source_ids[: self._model.most_read].tolist())
            references = (
                self._valid[place].summaries if self._valid else (tokenizer.decode(target_ids),)
            )
        text = tokenizer.decode(ids)
        return Item(place, ids, text, tuple(references), self._limit(place, text))

    def _limit(self, place: int, text: str) -> int:
        spec = self._spec
        name = next(name for name in LIMITS if getattr(spec, name))
        low, high = interval(name, getattr(spec, name))
        drawn = float(np.random.default_rng((spec.seed, 3, place)).random())
        if name != "ratio":
            return int(low + drawn * (high - low + 1)) if high > low else int(low)
        ratio = low + drawn * (high - low)
        return resolve_budget(ratio=ratio, ratio_rule="paper-dat", source=text).limit

    def _of_corpus(self) -> IntArray:
        spec = self._spec
        corpus = self._corpus = PackedCorpus.open(spec.corpus, spec.split)
        tokenizer = self._model.tokenizer
        if corpus.meta.tokenizer_sha256 != tokenizer.fingerprint:
            raise IncompatibleModelError(
                f"{spec.corpus} is in the pieces of another tokenizer "
                f"({corpus.meta.tokenizer_sha256[:12]}) than the model's "
                f"({tokenizer.fingerprint[:12]}); pack it with the model's tokenizer"
            )
        known = {entry.name for entry in corpus.meta.sets}
        unknown = [name for name in spec.sets if name not in known]
        if unknown:
            raise ConfigError(f"{spec.corpus} has no set {unknown[0]!r}; it has {sorted(known)}")
        wanted = np.array(
            [
                (not spec.profiles or entry.profile in spec.profiles)
                and (not spec.sets or entry.name in spec.sets)
                for entry in corpus.meta.sets
            ]
        )
        keep = wanted[corpus.set_ids] & (corpus.source_lengths > 1) & (corpus.target_lengths > 0)
        if fold := Fold.parse(spec.fold):
            folds = folds_of_corpus(corpus, tokenizer.piece_bytes, fold.n_folds)
            keep &= folds == fold.index
        if spec.split == "valid":
            self._valid = read_valid_texts(spec.corpus)
        used = np.unique(corpus.set_ids[keep])
        sets = [corpus.meta.sets[index] for index in used]
        self.profiles = tuple(sorted({entry.profile for entry in sets}))
        self.fingerprint = corpus.fingerprint
        names = ", ".join(f"{entry.name} ({entry.profile})" for entry in sets)
        part = f", fold {spec.fold}" if spec.fold else ""
        self.about = f"{spec.split} split{part}: {names}"
        return np.flatnonzero(keep).astype(np.int64)

    def _of_file(self) -> IntArray:
        spec = self._spec
        self.profiles = spec.profiles or ("natural",)
        profile = get_profile(self.profiles[0])
        self._pairs = [
            (
                profile.apply_source(normalize(pair.source)),
                tuple(profile.apply_source(normalize(text)) for text in pair.summaries),
            )
            for pair in read_pairs(spec.data, on_bad="skip")
        ]
        fold = Fold.parse(spec.fold)
        digest = hashlib.sha256()
        for source, references in self._pairs:
            digest.update("\0".join((source, *references, "")).encode())
        self.fingerprint = digest.hexdigest()
        part = f", fold {spec.fold}" if spec.fold else ""
        self.about = f"{Path(spec.data).name}{part} ({self.profiles[0]})"
        return np.array(
            [
                place
                for place, (source, _) in enumerate(self._pairs)
                if source and (not fold or fold_of_text(source, fold.n_folds) == fold.index)
            ],
            dtype=np.int64,
        )
