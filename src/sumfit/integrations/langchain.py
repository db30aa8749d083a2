"""A `Runnable` of LangChain that turns texts into summaries; needs ``sumfit[langchain]``.

Owns what may come in. Batches, streams, asynchronous calls and tracing are LangChain's own.
"""

from __future__ import annotations

from typing import Any

from sumfit.errors import InputError, MissingExtraError
from sumfit.pipeline import Summarizer

try:
    from langchain_core.documents import Document
    from langchain_core.messages import BaseMessage
    from langchain_core.prompt_values import PromptValue
    from langchain_core.runnables import Runnable, RunnableConfig
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "langchain_core":
        raise
    raise MissingExtraError("langchain-core", "langchain") from error

__all__ = ["SummarizeToFit", "Text"]

Text = str | Document | BaseMessage | PromptValue
"""What may come in: a text, or one of LangChain's objects that hold one."""


class SummarizeToFit(Runnable[Text, str]):
    """Writes a summary within a limit.

    Example::

        chain = retriever | (lambda found: found[0]) | SummarizeToFit(max_chars=60)
    """

    def __init__(self, *, summarizer: Summarizer | None = None, **options: Any) -> None:
        """Remember the limit and the options, and check them.

        Args:
            summarizer: What writes; the default model's if not given.
            **options: One limit and any option of `sumfit.Summarizer`.

        Raises:
            ConfigError: If an option is out of range.
            BudgetError: If there is no limit, or it makes no sense.
        """
        self.summarizer = summarizer or Summarizer.from_pretrained()
        self.options = options
        self.summarizer.stream([], **options)

    def invoke(self, input: Text, config: RunnableConfig | None = None, **options: Any) -> str:
        """Summarise one text.

        Args:
            input: The text, or a document, message or prompt that holds it.
            config: As for every runnable.
            **options: What is different in this call, as ``bind`` gives it.

        Returns:
            The summary.

        Raises:
            SumfitError: If the text cannot be summarised.
        """

        def summarize(given: Text) -> str:
            return self.summarizer.summarize(_text(given), **{**self.options, **options}).text

        return self._call_with_config(summarize, input, config)


def _text(given: object) -> str:
    if isinstance(given, str):
        return given
    if isinstance(given, Document):
        return given.page_content
    if isinstance(given, BaseMessage):
        return str(given.text)
    if isinstance(given, PromptValue):
        return given.to_string()
    raise InputError(
        f"a text, document, message or prompt is needed, was {type(given).__name__}; put a step "
        "before this one that picks the text"
    )
