"""A Space's settings."""

from typing import Any

from stello_graph.errors import Conflict, InvalidInput
from stello_graph.model.checks import check_label
from stello_graph.model.requests import SpaceChanges
from stello_graph.model.space import Space, SpaceConfig
from stello_graph.model.space_checks import check_guard_setting, check_setting
from stello_graph.ports import SpaceStore

__all__ = ["configure"]

_RACES = 5
_NOT_NULL = {
    "shared_memory",
    "max_output_tokens",
    "max_tool_rounds",
    "consolidate_on",
    "integrate_on",
    "every_n_turns",
    "split_guard",
}


async def configure(store: SpaceStore, asked: SpaceChanges, limit: int) -> Space:
    """Changes the fields that are given, whoever changes others at the same time.

    Raises:
        InvalidInput: a number out of range, null where a value is needed.
    """
    changes = {field: _checked(field, getattr(asked, field), limit) for field in asked.model_fields_set}
    for _ in range(_RACES):
        space = await store.space()
        changed = await store.configure(_merged(space, changes))
        if changed is not None:
            return changed
    raise Conflict("the Space's settings keep changing; try again")


def _merged(space: Space, changes: dict[str, Any]) -> Space:
    fields = {field: value for field, value in changes.items() if field not in ("name", "split_guard")}
    if "split_guard" in changes:
        fields["split_guard"] = space.config.split_guard.model_copy(update=changes["split_guard"])
    config = SpaceConfig.model_validate(space.config.model_dump() | fields)
    return space.model_copy(update={"name": changes.get("name", space.name), "config": config})


def _checked(field: str, value: Any, limit: int) -> Any:
    if value is None:
        if field in _NOT_NULL or field == "name":
            raise InvalidInput(f"{field} cannot be null")
        return None
    if field == "name":
        return check_label(value)
    if field == "split_guard":
        return {name: check_guard_setting(name, value[name]) for name in value if value[name] is not None}
    return check_setting(field, value, limit)
