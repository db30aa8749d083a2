"""Text in and out: normalisation, the tokenizer, and the text profiles."""

from sumfit.text.normalise import normalize
from sumfit.text.tokenizer import PieceClass, Tokenizer

__all__ = ["PieceClass", "Tokenizer", "normalize"]
