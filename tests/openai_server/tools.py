"""Tool definitions and the choice among them."""

import re
from typing import Any

from tests.openai_server.refusal import illegal

__all__ = ["check_tool_choice", "check_tools"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check_tools(tools: Any) -> None:
    """Functions with names that are legal and different, and schemas of objects."""
    if tools is None:
        return
    if not isinstance(tools, list) or not tools:
        raise illegal("Invalid 'tools': empty array. Expected an array with minimum length 1.", "tools")
    for index, tool in enumerate(tools):
        _check_tool(f"tools[{index}]", tool)
    names = [tool["function"]["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise illegal("Tool names must be unique.", "tools")


def check_tool_choice(body: dict[str, Any]) -> None:
    """Only together with tools."""
    if "tool_choice" not in body:
        return
    if not body.get("tools"):
        raise illegal("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice")
    if body["tool_choice"] not in ("none", "auto", "required"):
        raise illegal("Invalid value for 'tool_choice'.", "tool_choice", "invalid_value")


def _check_tool(where: str, tool: Any) -> None:
    if not isinstance(tool, dict) or tool.keys() != {"type", "function"} or tool["type"] != "function":
        raise illegal(f"Missing required parameter: '{where}.function'.", where)
    function = tool["function"]
    for name in function:
        if name not in ("name", "description", "parameters"):
            raise illegal(f"Unknown parameter: '{where}.function.{name}'.", where, "unknown_parameter")
    if not _NAME.fullmatch(function.get("name", "")):
        raise illegal(f"Invalid '{where}.function.name': string does not match pattern.", where)
    if not function.get("description", "x").strip():
        raise illegal(f"Invalid '{where}.function.description': empty string.", where)
    schema = function.get("parameters")
    if not isinstance(schema, dict) or schema.get("type") != "object" or "properties" not in schema:
        raise illegal(
            f"Invalid schema for function '{function['name']}': In context=(), object schema missing"
            " properties.",
            f"{where}.function.parameters",
            "invalid_function_parameters",
        )
