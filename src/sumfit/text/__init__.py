"""Text in and out: normalisation, the tokenizer, the text profiles, complete endings."""

from sumfit.text.endings import ends_completely
from sumfit.text.normalise import normalize
from sumfit.text.profiles import Profile, get_profile
from sumfit.text.tokenizer import PieceClass, Tokenizer

__all__ = [
    "PieceClass",
    "Profile",
    "Tokenizer",
    "ends_completely",
    "get_profile",
    "normalize",
]
