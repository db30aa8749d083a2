"""Answers that were paid for, kept on disk.

Owns the file: one JSON line an answer, appended and flushed before the answer is used.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from sumfit.errors import DataFormatError

__all__ = ["Answer", "AnswerCache"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said.

    Attributes:
        text: Its words.
        n_prompt_tokens: Tokens of the question, as the endpoint counted, or 0.
        n_answer_tokens: Tokens of the answer, as the endpoint counted, or 0.
        is_cached: It came from the cache and cost nothing now.
    """

    text: str
    n_prompt_tokens: int = 0
    n_answer_tokens: int = 0
    is_cached: bool = False


class AnswerCache:
    """Answers on disk, one JSON line each, appended and flushed one by one; thread-safe."""

    def __init__(self, path: Path | None) -> None:
        """Read what is there.

        Args:
            path: The file; made when the first answer is stored. ``None`` keeps answers in
                memory.

        Raises:
            DataFormatError: If a line other than a torn last one is not an answer.
        """
        self._path = path
        self._lock = threading.Lock()
        self._answers: dict[str, Answer] = {}
        if path is not None and path.exists():
            self._load(path)

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> Answer | None:
        """Look an answer up.

        Args:
            key: Fingerprint of the question.

        Returns:
            The answer, marked as cached, or ``None``.
        """
        return self._answers.get(key)

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer, on disk before this returns.

        Args:
            key: Fingerprint of the question.
            answer: The answer.
        """
        record = {
            "key": key,
            "text": answer.text,
            "prompt_tokens": answer.n_prompt_tokens,
            "answer_tokens": answer.n_answer_tokens,
        }
        kept = Answer(answer.text, answer.n_prompt_tokens, answer.n_answer_tokens, is_cached=True)
        with self._lock:
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with self._path.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(json.dumps(record, ensure_ascii=False) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            self._answers[key] = kept

    def _load(self, path: Path) -> None:
        data = path.read_bytes()
        whole, _, torn = data.rpartition(b"\n")
        for number, line in enumerate(whole.split(b"\n") if whole else [], 1):
            try:
                record = json.loads(line)
                key, text = record["key"], record["text"]
                counts = int(record["prompt_tokens"]), int(record["answer_tokens"])
            except (ValueError, KeyError, TypeError) as error:
                raise DataFormatError(
                    f"{path}:{number}: not an answer of this cache: {error}; "
                    "remove the line or name another file"
                ) from error
            self._answers[key] = Answer(text, *counts, is_cached=True)
        if torn:
            _LOG.warning("%s: the last line was torn off; its answer is asked for again", path)
            path.write_bytes(data[: len(data) - len(torn)])
