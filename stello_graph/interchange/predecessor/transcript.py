"""The records of a session (L3) as its messages, each result at its call."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.names import derived, name_of
from stello_graph.interchange.opencalls import OpenCalls
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.text import MAX_DEPTH, Cleaner, Unfit
from stello_graph.interchange.times import micros
from stello_graph.interchange.utterances import Call, Text, Utterance, arguments_of
from stello_graph.model.message import Draft, MessageRole

__all__ = ["NO_CALL", "SYSTEM", "Transcript"]

NO_OBJECT = "it is no object"
NO_ROLE = "its role is not known"
NO_TEXT = "its content is no text"
SYSTEM = "a system record is no message here"
NO_CALL = "it is the result of no open call"

# Of what is told, its calls, one of them: its arguments are as deep as they may be.
_TOLD_DEPTH = MAX_DEPTH + 3
_ROLES = {"user": MessageRole.USER, "assistant": MessageRole.ASSISTANT}


@dataclass(slots=True)
class _Asked:
    id: str | int | None
    tool: str
    arguments: Any
    result: str | None = None
    answered_at: int | None = None


@dataclass(slots=True)
class _Said:
    name: str
    role: MessageRole
    text: str
    created_at: int | None
    asked: list[_Asked] = field(default_factory=list)


class Transcript:
    """What a session says.

    Attributes:
        messages: legal, in the order of their records.
        skipped: the records that are no messages.
        hidden: how many say nothing.
    """

    def __init__(self, session_id: str, records: Sequence[Any], cleaner: Cleaner) -> None:
        self.messages: list[Draft] = []
        self.skipped: list[Skipped] = []
        self.hidden = 0
        self._session = derived("stello", name_of(session_id))
        self._cleaner = cleaner
        self._names: Counter[str] = Counter()
        self._said: list[tuple[str, _Said]] = []
        self._open = OpenCalls[_Asked]()
        for number, record in enumerate(records, 1):
            where = f"record {number}"
            try:
                self._take(where, record)
            except Malformed as error:
                self.skipped.append(Skipped(where=where, why=str(error)))
        for where, said in self._said:
            self._write(where, said)

    def _take(self, where: str, record: Any) -> None:
        if not isinstance(record, dict):
            raise Malformed(NO_OBJECT)
        role, content = record.get("role"), record.get("content")
        if role == "system":
            raise Malformed(SYSTEM)
        if content is not None and not isinstance(content, str):
            raise Malformed(NO_TEXT)
        created_at = micros(record.get("timestamp"))
        if role == "tool":
            call = self._open.take(_call_id(_of(record, "toolCallId")))
            if call is None:
                raise Malformed(NO_CALL)
            call.result, call.answered_at = content or "", created_at
        elif isinstance(role, str) and role in _ROLES:
            asked = _asked(record) if role == "assistant" else []
            said = _Said(self._name(record), _ROLES[role], content or "", created_at, asked)
            self._said.append((where, said))
            for call in asked:
                # A result without an id is that of any call.
                self._open.add(said, call, call.id, None)
        else:
            raise Malformed(NO_ROLE)

    def _name(self, record: dict[str, Any]) -> str:
        """What names a message: what it says and when, and its number among those that are the same."""
        told = [record.get("timestamp"), record.get("role"), record.get("content"), _of(record, "toolCalls")]
        try:
            told = Cleaner(_TOLD_DEPTH).value(told)
        except Unfit as error:
            raise Malformed(str(error)) from error
        name = hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name}.{self._names[name]}"

    def _write(self, where: str, said: _Said) -> None:
        calls = (Call(one.tool, one.arguments, one.result, answered_at=one.answered_at) for one in said.asked)
        utterance = Utterance(said.role, (Text(said.text), *calls), created_at=said.created_at)
        if utterance.is_empty:
            self.hidden += 1
            return
        id = derived(self._session, said.name)
        before = self.messages[-1].created_at if self.messages else None
        try:
            drafts = utterance.cleaned(self._cleaner).drafts(
                f"{id}:.open" if utterance.is_open else id, "stello", before
            )
        except Malformed as error:
            self.skipped.append(Skipped(where=where, why=str(error)))
        else:
            self.messages.extend(drafts)


def _asked(record: dict[str, Any]) -> list[_Asked]:
    calls = _of(record, "toolCalls")
    found = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    return [
        _Asked(
            _call_id(call.get("id")),
            name if isinstance(name := call.get("name"), str) and name else "tool",
            arguments_of(call.get("input")),
        )
        for call in found
    ]


def _call_id(value: Any) -> str | int | None:
    return value if isinstance(value, str | int) else None


def _of(record: dict[str, Any], key: str) -> Any:
    """A field of a record, which the memory engine kept in its metadata."""
    metadata = record.get("metadata")
    kept = metadata.get(key) if isinstance(metadata, dict) else None
    return record.get(key) if kept is None else kept
