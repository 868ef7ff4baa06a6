"""A real embedding server on the loopback, that answers what a test lays out for it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

from .hashing import HashEmbedder

Request: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass
class Server:
    """`answers` are given one a request; when none is left, `rule` makes them."""

    url: str
    rule: Callable[[Request], Answer]
    answers: list[Answer] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)


def vectors(request: Request) -> Answer:
    """What a good server says, in an order of its own."""
    rows = HashEmbedder(8).embed(request["input"], "document")
    entries = [{"index": number, "embedding": (3.0 * row).tolist()} for number, row in enumerate(rows)]
    return Answer(body=json.dumps({"data": entries[::-1]}))


@contextmanager
def serving(rule: Callable[[Request], Answer] = vectors) -> Iterator[Server]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(request)
            server.keys.append(self.headers["Authorization"])
            server.paths.append(self.path)
            answer = server.answers.pop(0) if server.answers else server.rule(request)
            content = answer.body.encode()
            self.send_response(answer.status)
            for name, value in (*answer.headers, ("Content-Length", str(len(content)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing on the test's output."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    server = Server(f"http://127.0.0.1:{http.server_port}/v1", rule)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
