"""How the API says no."""

from typing import Any

__all__ = ["Refusal", "illegal"]


class Refusal(Exception):
    """A request is refused: status, error type and sentence, as the provider words them."""

    def __init__(self, status: int, type: str, message: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.type = type
        self.message = message
        self.headers = headers or {}

    def body(self, request_id: str) -> dict[str, Any]:
        """The JSON of the response."""
        return {
            "type": "error",
            "error": {"type": self.type, "message": self.message},
            "request_id": request_id,
        }


def illegal(message: str) -> Refusal:
    """The usual one: 400 invalid_request_error."""
    return Refusal(400, "invalid_request_error", message)
