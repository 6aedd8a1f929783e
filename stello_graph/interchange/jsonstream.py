"""Reads the objects of a long JSON file one at a time.

Not with ijson: there a number of 5,000 digits ends the process (3.6.0, yajl2_c: segmentation fault), and
one NaN or one byte that is no UTF-8 costs the rest of the file. Here a file is cut at brackets outside of
strings, and each piece is parsed by itself.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from stello_graph.interchange.deepjson import loads_deep

__all__ = ["CHUNK", "MAX_OBJECT", "Broken", "Source", "has_long_number", "objects", "parsed"]

CHUNK = 1 << 18
MAX_OBJECT = 256 << 20
MAX_DEPTH = 1_000_000

_BLANK = b" \t\r\n," + BOM_UTF8
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_FLAT = rb'(?:[^"\[\]{}]++|%b)*+' % _STRING
_SHALLOW = rb'(?:[^"\[\]{}]++|%b|[\[{]%b[\]}])*+' % (_STRING, _FLAT)
_DEEPER = rb'(?:[^"\[\]{}]++|%b|[\[{]%b[\]}])*+' % (_STRING, _SHALLOW)
_TO_BRACKET = re.compile(_FLAT, re.DOTALL)
# Passing over small values as a whole leaves a quarter of the brackets to Python: 70 instead of 30 MB/s.
_TO_DEEP_BRACKET = re.compile(_DEEPER, re.DOTALL)
_TO_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_TO_END_OF_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Broken:
    """What is not JSON, or no JSON object where one has to be, and why."""

    why: str


class Source(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """At most so many; none at the end."""


def objects(
    stream: Source, max_object: int = MAX_OBJECT, *, deep: bool = False
) -> Iterator[dict[str, Any] | Broken]:
    """The objects of an array, or of a row of values that stand one after the other.

    What is broken is passed over where its brackets and quotes still match; else it swallows what follows.

    Args:
        max_object: an object of more bytes is broken too, and is not kept in memory.
        deep: whether legal files may be nested more deeply than a parser with recursion can go.
    """
    for piece in _pieces(stream, max_object):
        yield piece if isinstance(piece, Broken) else _parsed(piece, deep)


def _pieces(stream: Source, max_object: int) -> Iterator[bytes | Broken]:
    cutter = _Cutter(max_object)
    try:
        while chunk := stream.read(CHUNK):
            yield from cutter.feed(chunk)
        yield from cutter.end()
    except _TooDeep:
        yield Broken("nested too deeply: the rest of the file is not read")


class _TooDeep(Exception):
    """Nothing that people write looks like this, and each further bracket costs a microsecond."""


class _Cutter:
    """Cuts a stream into the values that stand in an outer array, or outside of any.

    A stretch of text in which nothing is cut is scanned once, however the chunks divide it.
    """

    def __init__(self, max_object: int) -> None:
        self._max_object = max_object
        self._depth = 0
        self._base = 0
        self._in_string = False
        self._carry = b""
        self._held: list[bytes] | None = None
        self._size = 0
        self._stray = False
        self._empty = True

    def feed(self, chunk: bytes) -> Iterator[bytes | Broken]:
        """The pieces that end in `chunk`, and the strays before them."""
        data, self._carry = self._carry + chunk, b""
        start = at = 0
        while at < len(data):
            before, at = at, self._skip(data, at)
            if self._held is None and data[before:at].strip(_BLANK):
                self._stray = True
            if at == len(data):
                break
            bracket, at = data[at], at + 1
            if self._held is not None:
                if self._inside(bracket):
                    self._hold(data[start:at])
                    yield self._release()
                elif self._depth > MAX_DEPTH:
                    raise _TooDeep
            elif self._outside(bracket):
                start = at - 1
                if self._stray:
                    yield self._drop_stray()
        if self._held is not None:
            self._hold(data[start : len(data) - len(self._carry)])

    def end(self) -> Iterator[Broken]:
        """What is to be said at the end of the stream."""
        if self._depth or self._in_string:
            yield Broken("the file ends in the middle of it")
        elif self._stray:
            yield self._drop_stray()
        elif self._empty:
            yield Broken("the file is empty")

    def _skip(self, data: bytes, at: int) -> int:
        """To the next bracket outside of strings, or to the end of `data`."""
        while at < len(data):
            if self._in_string:
                at = _match_end(_TO_END_OF_STRING, data, at)
                if data[at:] == b"\\":
                    self._carry = data[at:]
                    return len(data)
                if at == len(data):
                    return at
                self._in_string = False
                at += 1
            at = _match_end(_TO_BRACKET if self._held is None else _TO_DEEP_BRACKET, data, at)
            if data[at : at + 1] != b'"':
                return at
            self._in_string = True
            at += 1
        return at

    def _inside(self, bracket: int) -> bool:
        """Whether `bracket` ends the held piece."""
        self._depth += 1 if bracket in b"[{" else -1
        return self._depth == self._base

    def _outside(self, bracket: int) -> bool:
        """Whether `bracket` begins a piece. The outer array's own brackets do not."""
        if bracket in b"[{" and (self._depth or bracket in b"{"):
            self._held, self._size, self._base = [], 0, self._depth
            self._depth += 1
            return True
        if bracket in b"[" or (bracket in b"]" and self._depth):
            self._depth, self._empty = 1 if bracket in b"[" else 0, False
        else:
            self._stray = True
        return False

    def _hold(self, data: bytes) -> None:
        self._size += len(data)
        if self._held is not None and self._size <= self._max_object:
            self._held.append(data)
        else:
            self._held = []

    def _release(self) -> bytes | Broken:
        piece, self._held, self._empty = b"".join(self._held or ()), None, False
        return piece or Broken(f"larger than {self._max_object / 2**20:g} MiB")

    def _drop_stray(self) -> Broken:
        self._stray, self._empty = False, False
        return Broken("not a JSON object")


def _match_end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return match.end() if match else at


def _parsed(piece: bytes, deep: bool) -> dict[str, Any] | Broken:
    value = parsed(piece, deep=deep)
    return value if isinstance(value, dict | Broken) else Broken("not a JSON object")


def parsed(piece: bytes, *, deep: bool = False) -> Any:
    """The JSON value that `piece` is, or Broken.

    A byte order mark, NaN, lone surrogates, raw control characters and bytes that are no UTF-8 (as lone
    surrogates) pass.
    """
    try:
        value = orjson.loads(piece)
    except ValueError:
        return _leniently_parsed(piece, deep)
    if not has_long_number(piece):
        return value
    exact = _leniently_parsed(piece, deep)
    return value if isinstance(exact, Broken) else exact


def has_long_number(piece: bytes) -> bool:
    """Whether an integer may have more than 64 bits: orjson makes an inexact float of it.

    A regular expression takes twenty times as long, which is more than parsing does.
    """
    return _LONG_NUMBER in piece.translate(_TO_ZERO)


def _leniently_parsed(piece: bytes, deep: bool) -> Any:
    text = piece.removeprefix(BOM_UTF8).decode("utf-8", "surrogateescape")
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return _deeply_parsed(text) if deep else Broken("nested too deeply")
    except ValueError:
        return Broken("not legal JSON")


def _deeply_parsed(text: str) -> Any:
    try:
        return loads_deep(text, _DECODER)
    except ValueError:
        return Broken("not legal JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < 1_000 else float("inf")


_DECODER = json.JSONDecoder(strict=False, parse_int=_integer)
