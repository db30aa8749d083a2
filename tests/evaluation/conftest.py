"""A real HTTP server that speaks the chat protocol and answers by a rule."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


@dataclass
class ChatServer:
    """What the server does and what it saw.

    ``rule`` turns the last message into an answer. ``failures`` are used up first, one a
    request: a status, a ``(status, headers)`` pair, raw bytes of a 200 answer, ``"hang"`` (answer
    too late) or ``"drop"`` (close the connection).
    """

    rule: Callable[[str], str] = lambda prompt: "1"
    failures: list[Any] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    url: str = ""

    @property
    def n_requests(self) -> int:
        return len(self.bodies)


class Handler(BaseHTTPRequestHandler):
    chat: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with self.chat.lock:
            self.chat.bodies.append(body)
            self.chat.headers.append(dict(self.headers))
            failure = self.chat.failures.pop(0) if self.chat.failures else None
        if failure == "drop":
            self.close_connection = True
            self.connection.close()
            return
        if failure == "hang":
            time.sleep(3.0)
            failure = None
        if isinstance(failure, bytes):
            self._send(200, failure)
        elif isinstance(failure, int):
            self._send(failure, b'{"error": "no"}')
        elif failure is not None:
            self._send(failure[0], b"busy", failure[1])
        else:
            self._send(200, json.dumps(self._completion(body)).encode())

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt = body["messages"][-1]["content"]
        text = self.chat.rule(prompt)
        return {
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": len(prompt.split()), "completion_tokens": len(text.split())},
        }

    def _send(self, status: int, content: bytes, headers: dict[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
        except OSError:
            self.close_connection = True  # the client gave up

    def log_message(self, format: str, *args: Any) -> None:
        """Keep stderr quiet."""


class QuietServer(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A dropped connection is part of the test."""


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    chat = ChatServer()
    handler = type("BoundHandler", (Handler,), {"chat": chat})
    server = QuietServer(("127.0.0.1", 0), handler)
    chat.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield chat
    server.shutdown()
    thread.join()
    server.server_close()
