"""Parses JSON without recursion: LibreChat nests each message of a path in the one before."""

import json
import re
from typing import Any

__all__ = ["loads_deep"]

_SPACE = re.compile(r"[ \t\r\n]*+")
_CLOSING: dict[type, str] = {list: "]", dict: "}"}


def loads_deep(text: str, decoder: json.JSONDecoder) -> Any:
    """The value that `text` is, however deeply nested. `decoder` reads what is no object and no array.

    Raises:
        ValueError: it is not legal JSON.
    """
    return _Parser(text, decoder).parse()


class _Parser:
    """Attributes: _open holds the containers around the place `_at`, each with the key that waits in it."""

    def __init__(self, text: str, decoder: json.JSONDecoder) -> None:
        self._text = text
        self._at = 0
        self._decoder = decoder
        self._open: list[tuple[Any, Any]] = []

    def parse(self) -> Any:
        while True:
            if not self._enter():
                value = self._scalar()
                while self._open:
                    container = self._put(value)
                    if self._goes_on(container):
                        break
                    value = container
                else:
                    return self._whole(value)

    def _enter(self) -> bool:
        """Whether a container with something in it begins here."""
        begin = self._next()
        if begin not in ("{", "["):
            return False
        container: Any = {} if begin == "{" else []
        after = _SPACE.match(self._text, self._at + 1)
        at = after.end() if after else self._at + 1
        if self._text[at : at + 1] == _CLOSING[type(container)]:
            return False
        self._at += 1
        self._open.append((container, self._key(container)))
        return True

    def _scalar(self) -> Any:
        """A value without anything in it, be it an empty container."""
        value, self._at = self._decoder.raw_decode(self._text, self._at)
        return value

    def _put(self, value: Any) -> Any:
        container, key = self._open.pop()
        if isinstance(container, dict):
            container[key] = value
        else:
            container.append(value)
        return container

    def _goes_on(self, container: Any) -> bool:
        """Whether `container` has one more value, which begins here; else it has ended."""
        sign = self._next()
        self._at += 1
        if sign == ",":
            self._open.append((container, self._key(container)))
        elif sign != _CLOSING[type(container)]:
            raise ValueError(f"no end of a value at {self._at}")
        return sign == ","

    def _key(self, container: Any) -> Any:
        if not isinstance(container, dict):
            return None
        if self._next() != '"':
            raise ValueError(f"no key at {self._at}")
        key = self._scalar()
        if self._next() != ":":
            raise ValueError(f"no colon at {self._at}")
        self._at += 1
        return key

    def _next(self) -> str:
        """Passes over space, and looks at the character behind it."""
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at
        return self._text[self._at : self._at + 1]

    def _whole(self, value: Any) -> Any:
        if self._next():
            raise ValueError(f"more than one value at {self._at}")
        return value
