"""Of which Space a query is, by its parameters."""

from collections.abc import Mapping
from typing import Any

__all__ = ["scope_of", "scopes_of"]

_KEYS = ("key", "turnKey", "fromKey", "prefix")
# What these write is also read by queries that name no Space: who has a key, which Spaces there are.
_OF_ALL = {"keys/create", "keys/revoke", "spaces/create", "spaces/delete"}


def scopes_of(name: str, params: Mapping[str, Any]) -> tuple[str, ...]:
    """All whose reads have to see what a query writes: its Space, and for some what names no Space."""
    own = scope_of(params)
    return (own, "") if own and name in _OF_ALL else (own,)


def scope_of(params: Mapping[str, Any]) -> str:
    """The Space that a query's parameters name: by the keys that start with it, or itself; "" for none."""
    if "space" in params:
        return str(params["space"] or "")
    for name in _KEYS:
        if isinstance(params.get(name), str):
            return str(params[name]).partition("/")[0]
    if params.get("keys"):
        return str(params["keys"][0]).partition("/")[0]
    return str(params.get("id", ""))
