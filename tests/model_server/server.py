"""The server: the app on a free port, in a thread of its own, with a script and a memory."""

import itertools
import logging
import socket
import threading
import time
from collections import deque
from typing import Any, Self

import uvicorn

from tests.model_server.answers import Answer, Refuse, Respond, Scripted, say
from tests.model_server.app import make_app
from tests.model_server.cache import Cache
from tests.model_server.refusal import Refusal
from tests.model_server.rules import Rules, check
from tests.model_server.thinking import Issued

__all__ = ["ModelServer"]


class ModelServer:
    """A strict Messages API on 127.0.0.1.

    Attributes:
        requests: the bodies that were accepted, oldest first (those answered by a scripted Refuse too).
        refused: what broke the rules, with the refusal.
        rules: window, models and limits; a test may set them.
        respond: answers where the script is over.
        api_key: the only one that is let in.
        url: the base URL.
    """

    def __init__(self, *, api_key: str = "sk-test-key", port: int = 0) -> None:
        self.api_key = api_key
        self._socket = socket.create_server(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._ids = itertools.count(1)
        self.reset()

    def reset(self) -> None:
        """As new, on the same port."""
        self.requests: list[dict[str, Any]] = []
        self.refused: list[tuple[Any, Refusal]] = []
        self.rules = Rules()
        self.respond: Respond = echo
        self.max_bytes = 32 * 1024 * 1024
        self.issued = Issued()
        self._script: deque[Scripted] = deque()
        self._cache = Cache()

    def script(self, *answers: Scripted) -> None:
        """Adds answers: each is used for one request that is legal."""
        self._script.extend(answers)

    def accept(self, body: Any) -> tuple[Answer | Refuse, dict[str, int]]:
        """Checks a request and finds its answer."""
        tokens = check(body, self.rules, self.issued)
        self.requests.append(body)
        answer = self._script.popleft() if self._script else self.respond(body)
        read, written = self._cache.use(body)
        usage = {
            "input_tokens": max(0, tokens - read - written),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
            "output_tokens": 0,
        }
        return (Answer([say(answer)]) if isinstance(answer, str) else answer), usage

    def reject(self, body: Any, refusal: Refusal) -> None:
        """Notes a request that broke the rules."""
        self.refused.append((body, refusal))

    def name_of(self, body: dict[str, Any]) -> str:
        """The model that answers, by its own word."""
        return f"{body['model']}{self.rules.snapshot}"

    def sent(self, body: dict[str, Any], answer: Answer) -> None:
        """Notes the thinking that was given out whole."""
        self.issued.remember(body, answer.blocks)

    def next_id(self) -> str:
        """A new id."""
        return f"{next(self._ids):08d}"

    def run(self) -> None:
        """Serves in this thread, until interrupted."""
        self._make_server().run(sockets=[self._socket])

    def __enter__(self) -> Self:
        self._server = self._make_server()
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="model server")
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    def _make_server(self) -> uvicorn.Server:
        # Breaking a connection on purpose is logged as a crash of the app.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        config = uvicorn.Config(
            make_app(self),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        return uvicorn.Server(config)


def echo(body: dict[str, Any]) -> str:
    """Says what was asked."""
    content = body["messages"][-1]["content"]
    blocks = [say(content)] if isinstance(content, str) else content
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    results = [block for block in blocks if block["type"] == "tool_result"]
    return f"You said: {' / '.join(texts)}" if texts else f"I got {len(results)} tool results."
