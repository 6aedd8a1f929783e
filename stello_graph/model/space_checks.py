"""What the settings of a Space must fulfil."""

from typing import Any, Final

from stello_graph.errors import InvalidInput
from stello_graph.model.checks import check_range, check_text
from stello_graph.model.space import Trigger

__all__ = ["check_guard_setting", "check_setting"]

_RANGES: Final = {
    "max_context_tokens": (1_000, 100_000_000),
    "max_output_tokens": (1, 10_000_000),
    "max_tool_rounds": (0, 100),
    "every_n_turns": (1, 1_000_000),
}


def check_setting(field: str, value: Any, limit: int) -> Any:
    """Returns the value of a field of SpaceConfig but the split guard; texts have at most `limit` bytes."""
    if field in _RANGES and value is not None:
        return check_range(value, field, *_RANGES[field])
    if field == "consolidate_on" and Trigger.AFTER_CONSOLIDATE in value:
        raise InvalidInput("AFTER_CONSOLIDATE is for integrateOn alone")
    return check_text(value, field, limit) if isinstance(value, str) else value


def check_guard_setting(name: str, value: Any) -> Any:
    """Returns the value of a field of SplitGuard."""
    return value if isinstance(value, bool) else check_range(value, f"splitGuard {name}", 0, 1_000_000)
