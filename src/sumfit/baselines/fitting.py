"""The one rule by which a soft baseline's text is made to fit, and the error where it cannot be.

Owns `cut_to_fit` and `misfit`. The cut itself is that of `sumfit.text.cuts`.
"""

from __future__ import annotations

from sumfit.errors import InfeasibleBudgetError
from sumfit.length import LengthRequest
from sumfit.text import Tokenizer
from sumfit.text.cuts import longest_head

__all__ = ["cut_to_fit", "misfit"]


def cut_to_fit(text: str, request: LengthRequest, tokenizer: Tokenizer) -> str:
    """Cut a text after the last word that keeps the limit.

    Args:
        text: What a baseline wrote.
        request: The limit; prefix, suffix and reserve count.
        tokenizer: For limits in tokens.

    Returns:
        The text itself if it keeps the limit, else its longest run of first words that does;
        empty if not even one word does.
    """

    def fits(part: str) -> bool:
        return request.measure(part, tokenizer=tokenizer) + request.reserve <= request.limit

    return text if fits(text) else longest_head(text.split(), fits)


def misfit(text: str, kept: str, request: LengthRequest) -> InfeasibleBudgetError:
    """Say why a text cannot be returned.

    Args:
        text: What the baseline wrote.
        kept: What `cut_to_fit` left of it.
        request: The length request.

    Returns:
        The error.
    """
    unit = request.unit_name
    if not text:
        return InfeasibleBudgetError("the model wrote nothing for this text; use another model")
    if not kept:
        return InfeasibleBudgetError(
            f"not even the first word of the model's text fits {request.limit} {unit}; "
            f"raise {request.keyword}"
        )
    return InfeasibleBudgetError(
        f"the model's text {kept!r} is shorter than {request.min_length} {unit}, and this baseline "
        f"cannot make it longer; ask for at most {request.limit} {unit} instead"
    )
