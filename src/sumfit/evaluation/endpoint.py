"""Ask a language model behind any OpenAI-compatible endpoint, and never pay twice.

Owns the HTTP exchange and its retries. What is asked is the caller's business. An answer is
written to the cache (`sumfit.evaluation.answers`) before it is returned, so a run that dies loses
nothing it paid for and the next run resumes from there.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sumfit.errors import ConfigError, MissingExtraError, ServiceError
from sumfit.evaluation.answers import Answer, AnswerCache

__all__ = ["Answer", "AnswerCache", "CostEstimate", "Endpoint", "EndpointOptions", "Message"]

Message = Mapping[str, str]

_LOG = logging.getLogger(__name__)
_BYTES_PER_TOKEN = 4  # of English text, for estimates alone
_MOST_PARALLEL = 256  # a thread each
_MAX_WAIT_S = 60.0
_DAY_S = 86_400.0
_RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """Where to ask and how patiently.

    Attributes:
        base_url: Address up to and with ``/v1``; ``/chat/completions`` is added.
        model: Name of the model.
        api_key_variable: Environment variable that holds the key; sent only if it is set.
        max_tokens: Most tokens of an answer.
        temperature: Sampling temperature; 0 for the same answer every time.
        timeout_s: Seconds to wait for one answer.
        max_retries: Further tries after a failure that may pass: a time-out, a broken
            connection, a full queue, a server error, an answer that is not one.
        wait_s: Seconds before the first further try; doubled every time, at most 60. A
            ``Retry-After`` of the server goes first.
        n_parallel: Requests under way at once.
    """

    base_url: str
    model: str
    api_key_variable: str = "OPENAI_API_KEY"
    max_tokens: int = 16
    temperature: float = 0.0
    timeout_s: float = 60.0
    max_retries: int = 5
    wait_s: float = 1.0
    n_parallel: int = 4

    def __post_init__(self) -> None:
        if not self.base_url.startswith(("http://", "https://")):
            raise ConfigError(
                f"base_url must start with http:// or https://, was {self.base_url!r}; "
                "for example http://localhost:8080/v1"
            )
        for name, least in (("max_tokens", 1), ("n_parallel", 1), ("max_retries", 0)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} must be at least {least}, was {getattr(self, name)}")
        if self.n_parallel > _MOST_PARALLEL:
            raise ConfigError(f"n_parallel must be at most {_MOST_PARALLEL}, was {self.n_parallel}")
        if not (0 < self.timeout_s < _DAY_S and 0 <= self.wait_s < _DAY_S):
            raise ConfigError(
                "timeout_s must be above 0, wait_s at least 0 and both below 86400 seconds, "
                f"were {self.timeout_s} and {self.wait_s}"
            )
        if not 0 <= self.temperature < math.inf:
            raise ConfigError(f"temperature must be a number of at least 0, was {self.temperature}")


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """What a run will ask for, at most.

    Attributes:
        n_requests: Questions, all told, the same one once.
        n_cached: Of them, answered in the cache already.
        n_prompt_tokens: Tokens of the open questions, about.
        n_answer_tokens: Tokens of their answers, at most.
        price: Money, in the currency of the prices given; 0 if none were.
    """

    n_requests: int
    n_cached: int
    n_prompt_tokens: int
    n_answer_tokens: int
    price: float

    def __str__(self) -> str:
        """One sentence."""
        open_requests = self.n_requests - self.n_cached
        text = (
            f"{open_requests} requests to make ({self.n_cached} of {self.n_requests} are in the "
            f"cache): about {self.n_prompt_tokens} tokens in, at most {self.n_answer_tokens} out"
        )
        return f"{text}, about {self.price:.2f}" if self.price else text


class Endpoint:
    """A model to ask; use it as a context manager."""

    def __init__(
        self,
        options: EndpointOptions,
        *,
        cache: AnswerCache | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Open a connection pool; nothing is sent yet.

        Args:
            options: Where and how.
            cache: Answers known already, and where new ones go.
            sleep: How to wait.

        Raises:
            MissingExtraError: If httpx is not installed.
        """
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError("httpx", "eval") from error
        self._httpx = httpx
        self._options = options
        self._cache = cache if cache is not None else AnswerCache(None)
        self._sleep = sleep
        key = os.environ.get(options.api_key_variable, "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._client = httpx.Client(headers=headers, timeout=options.timeout_s)
        self._url = options.base_url.rstrip("/") + "/chat/completions"
        self._lock = threading.Lock()
        self.n_answers = 0
        """Answers given so far."""
        self.n_cached = 0
        """Those among them that came from the cache."""

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._options.model

    def estimate(
        self,
        questions: Sequence[Sequence[Message]],
        *,
        price_in: float = 0.0,
        price_out: float = 0.0,
    ) -> CostEstimate:
        """Estimate what asking will cost, without asking.

        Args:
            questions: Messages of each question.
            price_in: Price of a million tokens of questions.
            price_out: Price of a million tokens of answers.

        Returns:
            The estimate; a token is taken for four bytes.

        Raises:
            ConfigError: If a price is negative or not finite.
        """
        for name, price in (("price_in", price_in), ("price_out", price_out)):
            if not 0 <= price < math.inf:
                raise ConfigError(
                    f"{name} must be a number of at least 0, was {price}; give the price of a "
                    "million tokens, or leave it out"
                )
        distinct = {self._key(question): question for question in questions}
        still_open = [q for key, q in distinct.items() if self._cache.get(key) is None]
        n_bytes = sum(len(m["content"].encode()) for q in still_open for m in q)
        n_in = n_bytes // _BYTES_PER_TOKEN + 4 * len(still_open)
        n_out = self._options.max_tokens * len(still_open)
        return CostEstimate(
            n_requests=len(distinct),
            n_cached=len(distinct) - len(still_open),
            n_prompt_tokens=n_in,
            n_answer_tokens=n_out,
            price=(n_in * price_in + n_out * price_out) / 1e6,
        )

    def ask(self, question: str | Sequence[Message]) -> Answer:
        """Ask one question.

        Args:
            question: A text, or the messages of a conversation.

        Returns:
            The answer, from the cache if it is there.

        Raises:
            ServiceError: If the endpoint refuses, or goes on failing after every try.
        """
        messages = _messages(question)
        key = self._key(messages)
        answer = self._cache.get(key)
        is_cached = answer is not None
        if answer is None:
            answer = self._fetch(messages)
            self._cache.put(key, answer)
        with self._lock:
            self.n_answers += 1
            self.n_cached += is_cached
        return answer

    def ask_all(self, questions: Sequence[str | Sequence[Message]]) -> Iterator[Answer]:
        """Ask many questions, several at once, and yield the answers in order.

        Args:
            questions: The questions.

        Yields:
            The answers.

        Raises:
            ServiceError: If one goes on failing; the answers already given stay in the cache.
        """
        pool = ThreadPoolExecutor(self._options.n_parallel)
        try:
            by_key = {}
            for question in questions:  # the same question is asked, and paid for, once
                key = self._key(question)
                if key not in by_key:
                    by_key[key] = pool.submit(self.ask, question)
            futures = [by_key[self._key(question)] for question in questions]
            for number, future in enumerate(futures, 1):
                try:
                    yield future.result()
                except ServiceError as error:
                    raise ServiceError(
                        f"question {number} of {len(futures)} failed: {error}; {len(self._cache)} "
                        "answers are kept, run again to go on from there"
                    ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _key(self, question: str | Sequence[Message]) -> str:
        options = self._options
        asked = [
            self._url,
            options.model,
            options.max_tokens,
            options.temperature,
            _messages(question),
        ]
        return hashlib.sha256(json.dumps(asked, ensure_ascii=True).encode()).hexdigest()

    def _fetch(self, messages: Sequence[Message]) -> Answer:
        options = self._options
        body = {
            "model": options.model,
            "messages": list(messages),
            "max_tokens": options.max_tokens,
            "temperature": options.temperature,
        }
        n_tries = options.max_retries + 1
        for attempt in range(n_tries):
            wait_s = min(options.wait_s * 2**attempt, _MAX_WAIT_S)
            try:
                response = self._client.post(self._url, json=body)
            except self._httpx.HTTPError as error:
                problem = f"{type(error).__name__}: {error}"
            else:
                if response.status_code == 200:
                    answer = _parsed(response.content)
                    if isinstance(answer, Answer):
                        return answer
                    problem = answer
                elif response.status_code in _RETRIED:
                    problem = _status(response)
                    wait_s = _retry_after(response, wait_s)
                else:
                    raise ServiceError(f"{self._url} refused: {_status(response)}")
            if attempt < options.max_retries:
                _LOG.warning(
                    "%s: %s; try %d of %d failed, the next follows in %.1f s",
                    self._url,
                    _on_one_line(problem),
                    attempt + 1,
                    n_tries,
                    wait_s,
                )
                self._sleep(wait_s)
        raise ServiceError(f"{self._url} failed {n_tries} times: {problem}")


def _messages(question: str | Sequence[Message]) -> list[dict[str, str]]:
    if isinstance(question, str):
        return [{"role": "user", "content": question}]
    return [dict(message) for message in question]


def _parsed(content: bytes) -> Answer | str:
    """The answer in a response, or what is wrong with it."""
    try:
        data = json.loads(content)
        text = data["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError) as error:
        shown = content[:80].decode("utf-8", "replace")
        return f"the answer is not a chat completion ({type(error).__name__}): {shown!r}"
    if not isinstance(text, str):
        return f"the answer has no text, but {text!r}"
    usage: Any = data.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    return Answer(text, _count(counts, "prompt_tokens"), _count(counts, "completion_tokens"))


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) else 0


def _status(response: Any) -> str:
    return f"HTTP {response.status_code} {response.text[:200].strip()}".strip()


def _on_one_line(problem: str) -> str:
    """What a server wrote, with its line ends and control characters spelled out."""
    return problem if problem.isprintable() else repr(problem)


def _retry_after(response: Any, default_s: float) -> float:
    try:
        return min(max(float(response.headers.get("Retry-After", default_s)), 0.0), _MAX_WAIT_S)
    except ValueError:
        return default_s
