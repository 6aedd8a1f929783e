"""The server: the app on a free port, in a thread of its own, with a script and a memory."""

import logging
import socket
import threading
import time
from collections import deque
from typing import Any, Self

import uvicorn

from tests.openai_server.answers import Answer, Refuse, Respond, Scripted
from tests.openai_server.app import make_app
from tests.openai_server.refusal import Refusal
from tests.openai_server.rules import Rules, check

__all__ = ["OpenAIServer"]


class OpenAIServer:
    """A strict Chat Completions API on 127.0.0.1.

    Attributes:
        requests: the bodies that were accepted, oldest first (those answered by a scripted Refuse too).
        refused: what broke the rules, with the refusal.
        rules: window, models and what this server knows; a test may set them.
        respond: answers where the script is over.
        cached: tokens of the prompt that the usage says were read from a cache.
        api_key: the only one that is let in; None lets in whatever comes, as local servers do.
        url: the base URL.
    """

    def __init__(self, *, port: int = 0) -> None:
        self._socket = socket.create_server(("127.0.0.1", port))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        self.reset()

    def reset(self) -> None:
        """As new, on the same port."""
        self.requests: list[dict[str, Any]] = []
        self.refused: list[tuple[Any, Refusal]] = []
        self.rules = Rules()
        self.respond: Respond = echo
        self.max_bytes = 32 * 1024 * 1024
        self.cached = 0
        self.api_key: str | None = "sk-test-key"
        self._script: deque[Scripted] = deque()

    def script(self, *answers: Scripted) -> None:
        """Adds answers: each is used for one request that is legal."""
        self._script.extend(answers)

    def accept(self, body: Any) -> tuple[Answer | Refuse, dict[str, Any]]:
        """Checks a request and finds its answer."""
        tokens = check(body, self.rules)
        self.requests.append(body)
        answer = self._script.popleft() if self._script else self.respond(body)
        details = {"cached_tokens": min(self.cached, tokens), "audio_tokens": 0}
        usage = {"prompt_tokens": tokens, "prompt_tokens_details": details}
        return (Answer(answer) if isinstance(answer, str) else answer), usage

    def reject(self, body: Any, refusal: Refusal) -> None:
        """Notes a request that broke the rules."""
        self.refused.append((body, refusal))

    def __enter__(self) -> Self:
        self._server = self._make_server()
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), name="openai server")
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
    last = body["messages"][-1]
    if last["role"] == "tool":
        return "I got tool results."
    content = last["content"]
    texts = [content] if isinstance(content, str) else [p["text"] for p in content if p["type"] == "text"]
    return f"You said: {' / '.join(texts)}"
