"""What a line says, checked: values that can be stored, or why not."""

import json
import unicodedata
from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import orjson
from pydantic import ValidationError

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.ids import check_id
from stello_graph.interchange.conversations import CHARACTERS
from stello_graph.interchange.jsonl.checking import checked, out_of_bounds
from stello_graph.interchange.jsonl.lines import FORMAT, VERSION, Kind, interrupted
from stello_graph.interchange.jsonstream import has_long_number
from stello_graph.interchange.text import MAX_LABEL, Cleaner, Unfit, label_of
from stello_graph.model.checks import MAX_JSON_DEPTH
from stello_graph.model.copies import SessionCopy
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.message import Message
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import Space
from stello_graph.model.turn import Turn
from stello_graph.model.values import Value

__all__ = [
    "NO_OBJECT",
    "UNKNOWN_KIND",
    "Terms",
    "Unreadable",
    "check_header",
    "cleaned",
    "fields_of",
    "is_plain",
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
_NUMBERS: Final = "integers of more than 64 bits became text"

# A line, its calls, one of them: arguments are as deep as the API takes them.
_MAX_DEPTH: Final = MAX_JSON_DEPTH + 2

_KINDS: Final = {kind.value: kind for kind in Kind}

V = TypeVar("V", bound=Value)

_BESIDE: Final[dict[Kind, type[Value]]] = {
    Kind.RECORD: Record,
    Kind.SHARED_MEMORY: SharedMemory,
    Kind.SKILL: Skill,
    Kind.PROFILE: ForkProfile,
}
_NAMES: Final = {Kind.RECORD: "key", Kind.SHARED_MEMORY: "slug", Kind.SKILL: "name", Kind.PROFILE: "name"}


@dataclass(frozen=True, slots=True)
class Terms:
    """On which terms a file is read.

    Attributes:
        now: the time of what tells none.
        max_line: how many bytes a line may have.
        max_text: how many bytes a prompt or a record may have.
    """

    now: int
    max_line: int
    max_text: int


class Unreadable(Exception):
    """A line that says nothing that can be stored.

    Attributes:
        why: one of some fixed sentences.
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
        if has_long_number(line):
            fields = json.loads(line)
    except RecursionError:
        raise Unreadable(_TOO_DEEP) from None
    except ValueError:
        raise Unreadable(NO_OBJECT) from None
    if not isinstance(fields, dict):
        raise Unreadable(NO_OBJECT)
    return fields


def is_plain(line: bytes) -> bool:
    """Whether it can be stored as it is for sure: to look at each of its values takes ten times as long."""
    depth = line.count(b"{") + line.count(b"[")
    return depth <= _MAX_DEPTH and b"\\u0000" not in line and not has_long_number(line)


def cleaned(fields: dict[str, Any], line_is_plain: bool) -> tuple[dict[str, Any], list[str]]:
    """What can be stored of a line's fields, and in what that differs. Raises Unreadable."""
    if line_is_plain:
        return fields, []
    cleaner = Cleaner(_MAX_DEPTH)
    try:
        found = cleaner.value(fields)
    except Unfit:
        raise Unreadable(_TOO_DEEP) from None
    return found, [CHARACTERS] * cleaner.replaced + [_NUMBERS] * cleaner.renumbered


def kind_of(fields: dict[str, Any]) -> Kind:
    """What a line tells of. Raises Unreadable."""
    kind = fields.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        raise Unreadable(UNKNOWN_KIND)
    return _KINDS[kind]


def read_space(fields: dict[str, Any], terms: Terms) -> Space:
    """Name, settings, usage and age. Raises Unreadable."""
    given = {"createdAt": terms.now, **fields, "id": "", "revision": 0, "eventSeq": 0, "sessionCount": 0}
    return _checked(_read(Space, given), terms)


def read_beside(kind: Kind, fields: dict[str, Any], terms: Terms) -> tuple[str, Value]:
    """What belongs to no session, with its name. Raises Unreadable."""
    one = _checked(_read(_BESIDE[kind], {"updatedAt": terms.now, "revision": 1, **fields}), terms)
    return str(getattr(one, _NAMES[kind])), one


def read_session(fields: dict[str, Any], terms: Terms) -> tuple[SessionCopy, bool]:
    """A session, and whether its label had to be changed. Raises Unreadable."""
    made = fields.get("createdAt", terms.now)
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
    copy = _checked(_read(SessionCopy, given), terms)
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
        value = kind.model_validate_json(orjson.dumps(fields), strict=True)
    except ValidationError as error:
        raise Unreadable(_WRONG, str(error.errors()[0]["loc"][0])) from None
    id = getattr(value, "id", None)
    if id is not None and kind is not Space:
        _check(id)
    for name in out_of_bounds(value):
        raise Unreadable(_WRONG, name)
    return value


def _checked(value: V, terms: Terms) -> V:
    try:
        return checked(value, terms.max_text)
    except (InvalidInput, LimitExceeded) as error:
        raise Unreadable(error.message) from None


def _check(id: str) -> None:
    try:
        check_id(id)
    except InvalidInput:
        raise Unreadable(_WRONG, "id") from None


def _has_controls(text: str) -> bool:
    return any(unicodedata.category(one) in ("Cc", "Zl", "Zp") for one in text)
