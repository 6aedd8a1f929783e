"""Tool definitions, and the pairing of calls with results."""

import re
from typing import Any

from tests.model_server.refusal import illegal
from tests.model_server.shape import blocks_of

__all__ = ["check_pairs", "check_tool_choice", "check_tools"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}
_INVALID = "JSON schema is invalid. It must match JSON Schema draft 2020-12"


def check_tools(tools: Any) -> None:
    """Names that are legal and different, schemas that are JSON schemas of objects."""
    if tools is None:
        return
    if not isinstance(tools, list):
        raise illegal("tools: Input should be a valid list")
    for index, tool in enumerate(tools):
        _check_tool(f"tools.{index}.custom", tool)
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise illegal("tools: Tool names must be unique.")


def check_tool_choice(choice: Any, tools: Any) -> None:
    """Only together with tools, and of a known form."""
    if choice is None:
        return
    if not isinstance(choice, dict) or choice.get("type") not in ("auto", "any", "tool", "none"):
        raise illegal("tool_choice: Input tag does not match any of the expected tags")
    if not tools:
        raise illegal("tool_choice: tool_choice may only be specified while providing tools.")
    if choice["type"] == "tool" and choice.get("name") not in {tool["name"] for tool in tools}:
        raise illegal(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")


def check_pairs(messages: list[dict[str, Any]], tools: Any) -> None:
    """Each call answered once, in the message directly after it; calls last, results first; ids once."""
    seen: set[str] = set()
    waiting: set[str] = set()
    for index, message in enumerate(messages):
        blocks = blocks_of(message["content"])
        if any(block["type"] in ("tool_use", "tool_result") for block in blocks) and not tools:
            raise illegal("Requests which include `tool_use` or `tool_result` blocks must define tools")
        if message["role"] == "user":
            _check_results(index, blocks, waiting)
            waiting = set()
            continue
        waiting = _check_calls(index, blocks, seen)
    # A trailing assistant message was refused before, so nothing can be left waiting here.


def _check_calls(index: int, blocks: list[dict[str, Any]], seen: set[str]) -> set[str]:
    calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    if calls and any(block["type"] != "tool_use" for block in blocks[-len(calls) :]):
        raise illegal(f"messages.{index}: `tool_use` blocks must be the last blocks of an assistant message")
    for id in calls:
        if id in seen:
            raise illegal("messages: `tool_use` ids must be unique")
        seen.add(id)
    if blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        raise illegal(f"messages.{index}: The final block in an assistant message cannot be `thinking`.")
    return set(calls)


def _check_results(index: int, blocks: list[dict[str, Any]], waiting: set[str]) -> None:
    results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    for at, block in enumerate(blocks):
        if block["type"] == "tool_result" and block["tool_use_id"] not in waiting:
            raise illegal(
                f"messages.{index}.content.{at}: unexpected `tool_use_id` found in `tool_result` blocks:"
                f" {block['tool_use_id']}. Each `tool_result` block must have a corresponding `tool_use`"
                " block in the previous message."
            )
    for id in results:
        if results.count(id) > 1:
            raise illegal(
                f"messages.{index}.content: each tool_use must have a single result."
                f" Found multiple `tool_result` blocks with id: {id}"
            )
    leading = [block["type"] for block in blocks[: len(results)]]
    missing = sorted(waiting - set(results))
    if missing or any(type != "tool_result" for type in leading):
        raise illegal(
            f"messages.{index - 1}: `tool_use` ids were found without `tool_result` blocks immediately after:"
            f" {', '.join(missing or results)}. Each `tool_use` block must have a corresponding `tool_result`"
            " block in the next message."
        )


def _check_tool(where: str, tool: Any) -> None:
    if not isinstance(tool, dict):
        raise illegal(f"{where}: Input should be a valid dictionary")
    if not isinstance(tool.get("name"), str) or not _NAME.fullmatch(tool["name"]):
        raise illegal(f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    for name in tool:
        if name not in ("name", "description", "input_schema", "cache_control", "type"):
            raise illegal(f"{where}.{name}: Extra inputs are not permitted")
    if not isinstance(tool.get("description", ""), str):
        raise illegal(f"{where}.description: Input should be a valid string")
    schema = tool.get("input_schema")
    if schema is None:
        raise illegal(f"{where}.input_schema: Field required")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise illegal(f"{where}.input_schema.type: Input should be 'object'")
    for name in ("oneOf", "allOf", "anyOf"):
        if name in schema:
            raise illegal(f"{where}.input_schema: input_schema does not support {name} at the top level")
    _check_schema(f"{where}.input_schema", schema)


def _check_schema(where: str, schema: Any) -> None:
    """The keywords that tools use; not the whole of draft 2020-12."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise illegal(f"{where}: {_INVALID}")
    types = schema.get("type", [])
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    branches = [branch for name in ("anyOf", "oneOf", "allOf") for branch in schema.get(name, [])]
    legal = (
        set([types] if isinstance(types, str) else types) <= _TYPES
        and isinstance(properties, dict)
        and isinstance(required, list)
        and all(isinstance(name, str) for name in required)
        and isinstance(schema.get("enum", []), list)
    )
    if not legal:
        raise illegal(f"{where}: {_INVALID}")
    inner = [*properties.values(), *branches, *schema.get("$defs", {}).values()]
    for name in ("items", "additionalProperties"):
        inner += [schema[name]] if name in schema else []
    for one in inner:
        _check_schema(where, one)
