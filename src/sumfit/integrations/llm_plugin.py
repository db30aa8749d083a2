"""A model of the command line ``llm``: ``llm -m sumfit -o max_chars 60``.

Owns the model's name and its options. ``llm`` finds it by the entry point of this package.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import llm
from pydantic import Field

from sumfit.errors import SumfitError

__all__ = ["FitModel", "register_models"]


class FitModel(llm.Model):
    """The default model of sumfit, as one of ``llm``."""

    model_id = "sumfit"
    can_stream = False
    supports_conversation = False

    class Options(llm.Options):
        """What ``-o`` takes: one limit, and how to write."""

        max_chars: int | None = Field(default=None, description="At most so many characters.")
        max_words: int | None = Field(default=None, description="At most so many words.")
        max_bytes: int | None = Field(default=None, description="At most so many bytes.")
        preset: str | None = Field(default=None, description="A named limit; see: sumfit presets.")
        style: str = Field(
            default="auto", description="auto, news, commit, title, subject, synopsis or plain."
        )

    def execute(
        self,
        prompt: llm.Prompt,
        stream: bool,
        response: llm.Response,
        conversation: llm.Conversation | None,
    ) -> Iterator[str]:
        """Summarise the prompt.

        Args:
            prompt: The text, and the options.
            stream: No effect: a summary comes whole.
            response: Takes the length as its JSON.
            conversation: No effect.

        Yields:
            The summary.

        Raises:
            ModelError: If there is a system prompt, no limit, or the text cannot be summarised.
        """
        if prompt.system:
            raise llm.ModelError("sumfit follows no instructions: leave out the system prompt")
        try:
            found = _summarizer().summarize(prompt.prompt, **prompt.options.model_dump())
        except SumfitError as error:
            raise llm.ModelError(str(error)) from error
        response.response_json = {
            "length": found.length,
            "unit": found.unit,
            "limit": found.limit,
            "complete": found.complete,
        }
        yield found.text


@llm.hookimpl
def register_models(register: Callable[[llm.Model], None]) -> None:
    """Tell ``llm`` of the model.

    Args:
        register: Takes a model.
    """
    register(FitModel())


@functools.cache
def _summarizer() -> Any:
    import os

    from sumfit.pipeline import Summarizer

    return Summarizer.from_pretrained(os.environ.get("SUMFIT_MODEL") or None, n_workers=1)
