"""The tokenizer and the lexicon of the tests of constraints, for decoders that keep them."""

from tests.constraints.conftest import lexicon, tokenizer

__all__ = ["lexicon", "tokenizer"]
