"""What a line says, checked: values that can be stored, or why not."""

import unicodedata
from codecs import BOM_UTF8
from collections.abc import Iterator
from typing import Any, Final, TypeVar

import orjson
from pydantic import ValidationError

from stello_graph.errors import InvalidInput
from stello_graph.ids import check_id
from stello_graph.interchange.jsonl.lines import FORMAT, VERSION, Kind, interrupted
from stello_graph.interchange.text import MAX_LABEL, Cleaner, Unfit, label_of
from stello_graph.model.copies import SessionCopy
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.message import Message
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import Space
from stello_graph.model.turn import Turn
from stello_graph.model.values import Usage, Value

__all__ = [
    "NO_OBJECT",
    "UNKNOWN_KIND",
    "Unreadable",
    "check_header",
    "fields_of",
    "kind_of",
    "read_beside",
    "read_message",
    "read_session",
    "read_space",
    "read_turn",
]

NO_OBJECT: Final = "not a JSON object"
UNKNOWN_KIND: Final = "of an unknown kind"
_WRONG: Final = "its fields are not as they should be"
_TOO_DEEP: Final = "nested too deeply"

V = TypeVar("V", bound=Value)

_BESIDE: Final[dict[Kind, type[Value]]] = {
    Kind.RECORD: Record,
    Kind.SHARED_MEMORY: SharedMemory,
    Kind.SKILL: Skill,
    Kind.PROFILE: ForkProfile,
}
_NAMES: Final = {Kind.RECORD: "key", Kind.SHARED_MEMORY: "slug", Kind.SKILL: "name", Kind.PROFILE: "name"}
_LONGEST: Final = 200

# Counts and places are numbers of 31 bits in the API and grow by what comes later; usage has 63 bits.
_MOST: Final = 2**30
_MOST_USAGE: Final = 2**40
_YEAR_9999: Final = 253_402_300_799_000_000
# Its bounds are those of its siblings: see `placed`.
_UNBOUND: Final = {"index"}


class Unreadable(Exception):
    """A line that says nothing that can be stored.

    Attributes:
        why: one of a few fixed sentences.
        field: which field is wrong, where one is.
    """

    def __init__(self, why: str, field: str = "") -> None:
        super().__init__(why)
        self.why = why
        self.field = field


def check_header(line: bytes) -> None:
    """Raises InvalidInput where the first line is not the header of a file that can be read."""
    try:
        fields = fields_of(line.removeprefix(BOM_UTF8))
    except Unreadable:
        fields = {}
    version = fields.get("version")
    if fields.get("format") != FORMAT or type(version) is not int or version < 1:
        raise InvalidInput('the first line is not the header {"format":"stello-graph","version":1}')
    if version > VERSION:
        raise InvalidInput(
            f"the file has version {version} of the format, this program knows {VERSION}: use a newer one"
        )


def fields_of(line: bytes) -> dict[str, Any]:
    """The object that stands in a line. Raises Unreadable where there is none."""
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError:
        raise Unreadable(NO_OBJECT) from None
    if not isinstance(fields, dict):
        raise Unreadable(NO_OBJECT)
    return fields


def kind_of(fields: dict[str, Any]) -> Kind:
    """What a line tells of. Raises Unreadable."""
    kind = fields.get("kind")
    if kind not in list(Kind):
        raise Unreadable(UNKNOWN_KIND)
    return Kind(kind)


def read_space(fields: dict[str, Any], now: int) -> Space:
    """Name, settings, usage and age. Raises Unreadable."""
    return _read(Space, {"id": "", "createdAt": now, **fields, "revision": 0, "eventSeq": 0})


def read_beside(kind: Kind, fields: dict[str, Any], now: int) -> tuple[str, Value]:
    """What belongs to no session, with its name. Raises Unreadable."""
    one = _read(_BESIDE[kind], {"updatedAt": now, "revision": 1, **fields})
    if isinstance(one, Record) and one.value is None:
        raise Unreadable(_WRONG, "value")
    name = str(getattr(one, _NAMES[kind]))
    if not name or len(name) > _LONGEST or _has_controls(name):
        raise Unreadable(_WRONG, "name")
    return name, one


def read_session(fields: dict[str, Any], now: int) -> tuple[SessionCopy, bool]:
    """A session, and whether its label had to be changed. Raises Unreadable."""
    made = fields.get("createdAt", now)
    insight = fields.get("insight")
    if isinstance(insight, dict):
        insight = {"putAt": made, "revision": fields.get("insightRevision", 0), **insight}
    given = {
        "role": "STANDARD",
        "status": "ACTIVE",
        "strategy": "TREE",
        "createdAt": made,
        "updatedAt": made,
        "lastActiveAt": made,
        **fields,
        "insight": insight,
        "rootId": "",
    }
    copy = _read(SessionCopy, given)
    for id in (copy.parent_id, copy.source_session_id, *(ref.to_id for ref in copy.refs)):
        if id is not None:
            _check(id)
    if len(copy.label) <= MAX_LABEL and not _has_controls(copy.label):
        return copy, False
    return copy.model_copy(update={"label": label_of(copy.label)}), True


def read_turn(fields: dict[str, Any], session_id: str) -> Turn:
    """A turn of a session, ended. Raises Unreadable."""
    turn = _read(Turn, {"firstSeq": 1, "lastSeq": 1, **fields, "sessionId": session_id, "fence": 1})
    if turn.is_open or turn.ended_at is None:
        ended_at = turn.started_at if turn.ended_at is None else turn.ended_at
        return interrupted(turn, ended_at) if turn.is_open else turn.model_copy(update={"ended_at": ended_at})
    return turn


def read_message(fields: dict[str, Any], session_id: str, now: int) -> Message:
    """A message that is told in full. Raises Unreadable."""
    written_in = fields.get("writtenIn", session_id)
    message = _read(Message, {"createdAt": now, **fields, "sessionId": written_in})
    _check(message.session_id)
    if message.turn_id is not None:
        _check(message.turn_id)
    return message


def _read(kind: type[V], fields: dict[str, Any]) -> V:
    try:
        value = kind.model_validate_json(orjson.dumps(Cleaner().value(fields)), strict=True)
    except Unfit:
        raise Unreadable(_TOO_DEEP) from None
    except ValidationError as error:
        raise Unreadable(_WRONG, str(error.errors()[0]["loc"][0])) from None
    id = getattr(value, "id", None)
    if id:
        _check(id)
    for name in _out_of_bounds(value):
        raise Unreadable(_WRONG, name)
    return value


def _out_of_bounds(value: Value) -> Iterator[str]:
    """The fields whose numbers could not be stored, or not be counted on."""
    for name, field in type(value).model_fields.items():
        found = getattr(value, name)
        if isinstance(found, Value | tuple):
            inner = found if isinstance(found, tuple) else (found,)
            if any(True for one in inner if isinstance(one, Value) for _ in _out_of_bounds(one)):
                yield field.alias or name
        elif type(found) is int and field.annotation is not Any and name not in _UNBOUND:
            is_time = name == "at" or name.endswith("_at")
            most = _YEAR_9999 if is_time else _MOST_USAGE if isinstance(value, Usage) else _MOST
            if not 0 <= found <= most:
                yield field.alias or name


def _check(id: str) -> None:
    try:
        check_id(id)
    except InvalidInput:
        raise Unreadable(_WRONG, "id") from None


def _has_controls(text: str) -> bool:
    return any(unicodedata.category(one) in ("Cc", "Zl", "Zp") for one in text)
