"""Which session tells a message in full, of those that several have."""

__all__ = ["Tellers"]


class Tellers:
    """Of the shared messages that are told so far, who tells them."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}
        self._telling: dict[str, str] = {}

    def teller_of(self, message_id: str, session_id: str) -> str:
        """Who tells it: a session before, or else this one from now on."""
        return self._told.get(message_id) or self._telling.setdefault(message_id, session_id)

    def keep(self) -> None:
        """The session that was asked for last is told."""
        self._told |= self._telling
        self._telling.clear()

    def forget(self) -> None:
        """It is not told after all."""
        self._telling.clear()
