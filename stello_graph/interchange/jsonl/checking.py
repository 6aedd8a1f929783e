"""What a line tells, held against what can be stored, gone on from, and would be taken from a caller."""

import math
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, TypeVar, cast

from stello_graph.errors import InvalidInput
from stello_graph.interchange.text import MAX_METADATA
from stello_graph.model.checks import check_json, check_label, check_names, check_text
from stello_graph.model.copies import SessionCopy
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.knowledge_checks import check_record_key, check_shared_memory, check_skill
from stello_graph.model.profile import ForkProfile
from stello_graph.model.profile_checks import check_profile
from stello_graph.model.space import Space
from stello_graph.model.space_checks import check_guard_setting, check_setting
from stello_graph.model.values import Usage, Value

__all__ = ["checked", "out_of_bounds"]

# Counts and places are numbers of 31 bits in the API and grow by what comes later; usage has 63 bits.
_MOST: Final = 2**30
_MOST_USAGE: Final = 2**40
_YEAR_9999: Final = 253_402_300_799_000_000
# Its bounds are those of its siblings: see `placed`.
_UNBOUND: Final = {"index"}

_NESTED: Final = (Value, tuple)

V = TypeVar("V", bound=Value)


def out_of_bounds(value: Value) -> Iterator[str]:
    """The fields whose numbers could not be stored, or not be counted on from."""
    kind = type(value)
    for name, found in vars(value).items():
        if type(found) is int:
            least, most = _bounds(kind, name)
            is_out = not least <= found <= most
        elif isinstance(found, _NESTED):
            inner = found if isinstance(found, tuple) else (found,)
            is_out = any(True for one in inner if isinstance(one, Value) for _ in out_of_bounds(one))
        else:
            continue
        if is_out:
            yield kind.model_fields[name].alias or name


@cache
def _bounds(kind: type[Value], name: str) -> tuple[float, float]:
    if kind.model_fields[name].annotation is Any or name in _UNBOUND:
        return -math.inf, math.inf
    if name == "at" or name.endswith("_at"):
        return 0, _YEAR_9999
    return 0, _MOST_USAGE if issubclass(kind, Usage) else _MOST


def checked(value: V, max_text: int) -> V:
    """Returns `value` as it is stored when a caller gives it; messages and turns are not looked at.

    Args:
        max_text: how many bytes a prompt or a record may have.

    Raises:
        InvalidInput: a name, a key, a prompt that would be refused.
        LimitExceeded: longer, or more, than it may be.
    """
    return cast(V, _checked(value, max_text))


def _checked(value: Value, max_text: int) -> Value:
    match value:
        case Record():
            check_record_key(value.key)
            if value.value is None:
                raise InvalidInput("value is not null")
            check_json(value.value, "value", max_text)
        case SharedMemory():
            slug, summary, body = check_shared_memory(value.slug, value.summary, value.body)
            return value.model_copy(update={"slug": slug, "summary": summary, "body": body})
        case Skill():
            return check_skill(value)
        case ForkProfile():
            return check_profile(value, max_text)
        case Space():
            _check_space(value, max_text)
        case SessionCopy():
            return _checked_session(value, max_text)
    return value


def _check_space(space: Space, max_text: int) -> None:
    check_label(space.name)
    for name in type(space.config).model_fields:
        check_setting(name, getattr(space.config, name), max_text)
    for name, setting in space.config.split_guard.model_dump().items():
        check_guard_setting(name, setting)


def _checked_session(copy: SessionCopy, max_text: int) -> SessionCopy:
    # An import of another product's export lets in so much, whatever the setting is.
    check_json(copy.metadata, "metadata", max(max_text, MAX_METADATA))
    # A fork's holds what a model told of its source as well.
    check_text(copy.system_prompt or "", "systemPrompt", 2 * max_text)
    for what, text in copy.overrides.model_dump(by_alias=True).items():
        check_text(text or "", what, max_text)
    skills = None if copy.skills is None else check_names(copy.skills, "skills")
    return copy.model_copy(update={"tags": check_names(copy.tags, "tags"), "skills": skills})
