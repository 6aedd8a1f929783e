"""A Space's settings."""

from typing import Any

from stello_graph.errors import Conflict, InvalidInput
from stello_graph.forest.checks import check_label, check_range, check_text
from stello_graph.model.requests import SpaceChanges
from stello_graph.model.space import Space, SpaceConfig, Trigger
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
_RANGES = {
    "max_context_tokens": (1_000, 100_000_000),
    "max_output_tokens": (1, 10_000_000),
    "max_tool_rounds": (0, 100),
    "every_n_turns": (1, 1_000_000),
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
    if field in _RANGES:
        return check_range(value, field, *_RANGES[field])
    if field == "name":
        return check_label(value)
    if field == "consolidate_on" and Trigger.AFTER_CONSOLIDATE in value:
        raise InvalidInput("AFTER_CONSOLIDATE is for integrateOn alone")
    if field == "split_guard":
        return {name: _guard_setting(name, value[name]) for name in value if value[name] is not None}
    return check_text(value, field, limit) if isinstance(value, str) else value


def _guard_setting(name: str, value: Any) -> Any:
    return value if isinstance(value, bool) else check_range(value, f"splitGuard {name}", 0, 1_000_000)
