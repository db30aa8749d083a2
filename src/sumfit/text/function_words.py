"""Words that carry grammar rather than content.

Owns the list that the search (`repeat_words`), the scores and the judgement of truth share.
"""

from __future__ import annotations

from sumfit.text.endings import DANGLING_WORDS

__all__ = ["FUNCTION_WORDS"]

FUNCTION_WORDS: frozenset[str] = DANGLING_WORDS | frozenset(
    """
    he him his himself she her hers herself it itself they them theirs themselves we us ours
    ourselves you yours yourself yourselves i me mine myself one ones someone something anyone
    anything everyone everything nobody nothing this that these those there here then when where
    why how what whatever whoever not no never only just also too very more most much many less
    least few some any all both each either neither other another such same own so up down out
    off over away back again once ever even still yet already almost about around before after
    above below across along behind beside besides beyond inside outside through throughout since
    till like else don doesn didn isn aren wasn weren hasn haven hadn won wouldn shouldn couldn
    can cannot could may might must shall should will would ain ll ve re
    """.split()
)
"""Words that may be repeated: they carry grammar rather than content."""
