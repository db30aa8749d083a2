"""What the server accepts and answers in OpenAI's protocol.

Owns its fields, and which of those that are not honoured are refused: a field that cannot change
the result is taken, since clients send many of their own accord, and one that would change it is
refused with a reason, unless it has the value that asks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from sumfit.serving.schemas import Count, Options, Strict, SummaryReply

__all__ = ["ChatMessage", "ChatReply", "ChatRequest"]

NO_EFFECT = "no effect"
_Stop = Annotated[str, Field(max_length=1000)]


class ChatPart(Strict):
    """A piece of a message's content; text only."""

    type: Literal["text"]
    text: str


class ChatMessage(Strict):
    """A message of a conversation; only the last one of role ``user`` is read."""

    # What replies hold and clients send back with them.
    model_config = ConfigDict(extra="ignore")

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[ChatPart] | None = None
    name: str | None = None


class StreamOptions(Strict):
    """Of a reply in events."""

    include_usage: bool | None = Field(
        None, description="the tokens used in an event of their own, the last one"
    )
    include_obfuscation: bool | None = Field(None, description=NO_EFFECT)


def _is_nothing(value: Any) -> bool:
    return value in (None, False, 0, [], {})


def _is_text(value: Any) -> bool:
    return value in (None, ["text"], {"type": "text"})


# For each field that would change the result: which values ask for nothing, and what to say of the
# others.
_REFUSED: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "response_format": (_is_text, 'must be {"type": "text"}: a summary is plain text'),
    "modalities": (_is_text, 'must be ["text"]: a summary is plain text'),
    "logit_bias": (_is_nothing, "must be empty; for words use banned or required"),
    "logprobs": (
        _is_nothing,
        "must be false: single tokens have no log-probabilities here; sumfit.log_prob of the reply "
        "is that of the summary",
    ),
    "top_logprobs": (
        _is_nothing,
        "must be 0: other tokens are not listed; n gives other summaries",
    ),
    "tools": (_is_nothing, "must be empty, or tool_choice 'none': nothing is called from here"),
    "functions": (
        _is_nothing,
        "must be empty, or function_call 'none': nothing is called from here",
    ),
    "audio": (_is_nothing, "must be null: a summary is plain text"),
    "web_search_options": (_is_nothing, "must be null: nothing is looked up"),
    "moderation": (_is_nothing, "must be null: nothing is moderated here"),
}


class ChatRequest(Options):
    """OpenAI's chat request plus the length options; the last user message is the text.

    The limit is any length option given as an extra field, or a preset behind the model's name:
    ``"model": "sumfit:seo-title"``. System messages are not read: there are no instructions to
    follow. What cannot change the summary (sampling, since the search is exact; accounting,
    caching) is accepted and has no effect. What would change it is refused with 422, unless its
    value asks for nothing. The events of a stream hold ``usage`` only if `stream_options` asks.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": "sumfit:seo-title",
                    "messages": [{"role": "user", "content": "The text to shorten ..."}],
                }
            ]
        }
    )

    model: str = Field("sumfit", max_length=128)
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=1000)]
    n: Annotated[int, Field(ge=1, le=1000)] | None = Field(None, description="choices to return")
    stream: bool | None = Field(None, description="answer in events, the whole summary in one")
    stream_options: StreamOptions | None = Field(
        None, description="`include_usage`: the tokens used, in an event of their own at the end"
    )
    stop: _Stop | Annotated[list[_Stop], Field(max_length=16)] | None = Field(
        None, description="refused if the summary holds one: none is cut short; see `banned`"
    )
    max_completion_tokens: Count | None = Field(None, description="same as max_tokens")
    temperature: float | None = Field(None, ge=0, le=2, description=NO_EFFECT)
    top_p: float | None = Field(None, ge=0, le=1, description=NO_EFFECT)
    presence_penalty: float | None = Field(None, ge=-2, le=2, description=NO_EFFECT)
    frequency_penalty: float | None = Field(None, ge=-2, le=2, description=NO_EFFECT)
    user: str | None = Field(None, max_length=256, description="no effect, not stored")
    # Before those whose check asks for them.
    tool_choice: Any = Field(None, description=NO_EFFECT)
    function_call: Any = Field(None, description=NO_EFFECT)
    tools: Any = Field(None, description='none, or with `tool_choice` "none"')
    functions: Any = Field(None, description='none, or with `function_call` "none"')
    response_format: Any = Field(None, description='`{"type": "text"}` only')
    modalities: Any = Field(None, description='`["text"]` only')
    logit_bias: Any = Field(None, description="empty only; see `banned` and `required`")
    logprobs: Any = Field(None, description="false only; see `sumfit.log_prob` of the reply")
    top_logprobs: Any = Field(None, description="0 only")
    audio: Any = Field(None, description="null only")
    web_search_options: Any = Field(None, description="null only")
    moderation: Any = Field(None, description="null only")
    prediction: Any = Field(None, description=NO_EFFECT)
    parallel_tool_calls: Any = Field(None, description=NO_EFFECT)
    reasoning_effort: Any = Field(None, description=NO_EFFECT)
    verbosity: Any = Field(None, description=NO_EFFECT)
    service_tier: Any = Field(None, description=NO_EFFECT)
    store: Any = Field(None, description="no effect, nothing is stored")
    metadata: Any = Field(None, description="no effect, not stored")
    safety_identifier: Any = Field(None, description="no effect, not stored")
    prompt_cache_key: Any = Field(None, description=NO_EFFECT)
    prompt_cache_options: Any = Field(None, description=NO_EFFECT)
    prompt_cache_retention: Any = Field(None, description=NO_EFFECT)

    @field_validator(*_REFUSED)
    @classmethod
    def _asks_for_nothing(cls, value: Any, info: ValidationInfo) -> Any:
        asks_for_nothing, rule = _REFUSED[info.field_name or ""]
        choice = {"tools": "tool_choice", "functions": "function_call"}.get(info.field_name or "")
        is_off = choice is not None and info.data.get(choice) == "none"
        if not (is_off or asks_for_nothing(value)):
            raise ValueError(rule)
        return value


class ChatReplyMessage(BaseModel):
    """The summary as a message."""

    role: Literal["assistant"] = "assistant"
    content: str


class ChatChoice(BaseModel):
    """One candidate."""

    index: int
    message: ChatReplyMessage
    finish_reason: Literal["stop"] = "stop"


class ChatUsage(BaseModel):
    """Pieces of the model's vocabulary."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatReply(BaseModel):
    """OpenAI's chat reply, with the summary's own fields under ``sumfit``."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    sumfit: SummaryReply
