"""Texts as the ids that a reranker's encoder reads.

Owns the two kinds of tokenizer files: that of a Hugging Face encoder, which adds its own begin and
end marks, and that of a summarizer, which has none.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer as HFTokenizer

from sumfit.errors import ModelFormatError, ModelNotFoundError
from sumfit.models.reranker_config import EncoderKind
from sumfit.text import Tokenizer

__all__ = ["PieceReader"]


class PieceReader:
    """Encodes texts for one encoder; safe to use from several threads.

    Attributes:
        vocab_size: Ids are below this.
        fingerprint: SHA-256 of the tokenizer's file.
    """

    vocab_size: int
    fingerprint: str

    def __init__(self, kind: EncoderKind, path: str | os.PathLike[str]) -> None:
        """Open a tokenizer file.

        Args:
            kind: Family of the encoder.
            path: Its ``tokenizer.json``.

        Raises:
            ModelNotFoundError: If there is no such file.
            ModelFormatError: If it is no tokenizer.
        """
        file = Path(path)
        if not file.is_file():
            raise ModelNotFoundError(f"{file} is not there; copy the reranker again")
        self.fingerprint = hashlib.sha256(file.read_bytes()).hexdigest()
        self._own: Tokenizer | None = None
        self._hf: Any = None
        if kind == "sumfit":
            self._own = Tokenizer.from_file(file)
            self.vocab_size = self._own.vocab_size
            return
        try:
            self._hf = HFTokenizer.from_file(os.fspath(file))
        except Exception as error:  # the library raises bare Exception
            raise ModelFormatError(
                f"{file} is not a tokenizer ({error}); copy the reranker again"
            ) from error
        self._hf.no_padding()
        self._hf.no_truncation()
        self.vocab_size = self._hf.get_vocab_size()

    def encode(self, texts: Sequence[str], *, most: int) -> list[list[int]]:
        """Encode texts.

        Args:
            texts: The texts.
            most: Ids kept of each.

        Returns:
            The ids of each text, marks included, at least one.
        """
        if self._own is not None:
            # A text without any piece would be all padding: it becomes one end mark.
            return [ids[:most] or [Tokenizer.EOS] for ids in self._own.encode_batch(texts)]
        return [encoding.ids[:most] for encoding in self._hf.encode_batch_fast(list(texts))]
