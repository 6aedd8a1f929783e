"""How the API says no."""

from typing import Any

__all__ = ["Refusal", "illegal"]


class Refusal(Exception):
    """A request is refused: status, sentence, and the words for kind, cause and parameter."""

    def __init__(
        self,
        status: int,
        message: str,
        type: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.type = type
        self.code = code
        self.param = param
        self.headers = headers or {}

    def body(self) -> dict[str, Any]:
        """The JSON of the response."""
        error = {"message": self.message, "type": self.type, "param": self.param, "code": self.code}
        return {"error": error}


def illegal(message: str, param: str | None = None, code: str | None = None) -> Refusal:
    """The usual one: 400 invalid_request_error."""
    return Refusal(400, message, param=param, code=code)
