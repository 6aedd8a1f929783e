"""Rows inside a row, which queries list without names: names take as long to send and to read as values.

The order is that of all queries that list such rows. A dict made by `zip` takes three times as long.
"""

from stello_graph.store.engine import Listed, Row

__all__ = ["DIGEST", "MESSAGE", "NODE", "digest_rows", "message_rows", "node_rows"]

# What the functions below take.
NODE = (
    "id", "parentId", "label", "status", "role", "depth", "index", "childCount", "turnCount",
    "sourceSessionId", "sourceSeq", "createdAt", "lastActiveAt",
)  # fmt: skip
MESSAGE = (
    "id", "sessionId", "role", "content", "parts", "state", "toolCalls", "toolCallId", "toolName", "isError",
    "durationMs", "model", "usage", "turnId", "createdAt", "seq",
)  # fmt: skip
DIGEST = ("id", "label", "status", "memory", "rollup", "insight", "updatedAt", "eventSeq", "memorySeq")


def node_rows(items: list[Listed]) -> list[Row]:
    """Of TopologyNodes."""
    return [
        {
            "id": id, "parentId": parent_id, "label": label, "status": status, "role": role, "depth": depth,
            "index": index, "childCount": children, "turnCount": turns, "sourceSessionId": source_id,
            "sourceSeq": source_seq, "createdAt": created, "lastActiveAt": last,
        }
        for (
            id, parent_id, label, status, role, depth, index, children, turns, source_id, source_seq, created,
            last,
        ) in items
    ]  # fmt: skip


def message_rows(items: list[Listed]) -> list[Row]:
    """Of Messages."""
    return [
        {
            "id": id, "sessionId": session_id, "role": role, "content": content, "parts": parts,
            "state": state, "toolCalls": calls, "toolCallId": call_id, "toolName": tool, "isError": is_error,
            "durationMs": duration, "model": model, "usage": usage, "turnId": turn_id, "createdAt": created,
            "seq": seq,
        }
        for (
            id, session_id, role, content, parts, state, calls, call_id, tool, is_error, duration, model,
            usage, turn_id, created, seq,
        ) in items
    ]  # fmt: skip


def digest_rows(items: list[Listed]) -> list[Row]:
    """Of digests."""
    return [
        {
            "id": id, "label": label, "status": status, "memory": memory, "rollup": rollup,
            "insight": insight, "updatedAt": updated, "eventSeq": event_seq, "memorySeq": memory_seq or 0,
        }
        for (id, label, status, memory, rollup, insight, updated, event_seq, memory_seq) in items
    ]  # fmt: skip
