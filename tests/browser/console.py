"""What went wrong in a page, and what it asked of whom."""

import json
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page, Request

__all__ = ["Console"]


@dataclass
class Console:
    """Listens to a page of a server."""

    server: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    frames: list[dict[str, Any]] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on(
            "console",
            lambda message: self.errors.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("request", self._request)
        page.on("websocket", self._socket)

    def _request(self, request: Request) -> None:
        self.requests.append(request)
        if not request.url.startswith((self.server, "data:", "blob:")):
            self.foreign.append(request.url)

    def _socket(self, websocket: Any) -> None:
        self.sockets.append(websocket.url)
        websocket.on("framesent", lambda payload: self.frames.append(json.loads(payload)))

    def sent_authorization(self) -> list[str | None]:
        posts = [request for request in self.requests if request.method == "POST"]
        return [request.all_headers().get("authorization") for request in posts]

    def connection_payloads(self) -> list[Any]:
        return [frame.get("payload") for frame in self.frames if frame["type"] == "connection_init"]
