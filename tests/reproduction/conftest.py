"""The chat server of the evaluation tests, for the judge of Table 4."""

from tests.evaluation.conftest import chat_server

__all__ = ["chat_server"]
