"""Of which Space a query is, by its parameters."""

from collections.abc import Mapping
from typing import Any

__all__ = ["scope_of"]

_KEYS = ("key", "turnKey", "fromKey", "prefix")
_LISTS = ("keys", "parents")


def scope_of(params: Mapping[str, Any]) -> str:
    """The Space that a query's parameters name: by the keys that start with it, or itself; "" for none."""
    if "space" in params:
        return str(params["space"])
    for name in _KEYS:
        if isinstance(params.get(name), str):
            return str(params[name]).partition("/")[0]
    for name in _LISTS:
        if params.get(name):
            return str(params[name][0]).partition("/")[0]
    return str(params.get("id", ""))
