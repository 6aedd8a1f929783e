"""What providers accept, written down without a look at the code, and material to try it on."""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st

from stello_graph.model.context import ContextMessage, Conversation, ToolSpec
from stello_graph.model.message import Draft, Message, MessageRole, MessageState, ToolCall
from stello_graph.model.session import Compression, Session
from stello_graph.model.space import SpaceConfig
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.session.context.patches import (
    AssistantMessage,
    AssistantTruncated,
    ContextSummary,
    MultimodalToolResult,
    Patch,
    ToolCancelled,
    ToolResult,
)

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}

PLAIN = SpaceConfig()


def faults(messages: Sequence[ContextMessage], tools: Iterable[str]) -> list[str]:
    """Why a provider would refuse a request of these messages. Empty where it is legal."""
    offered = set(tools)
    found: list[str] = []
    roles = [m.role for m in messages]
    talk = [m for m in messages if m.role != "system"]
    if roles != ["system"] * (len(messages) - len(talk)) + [m.role for m in talk]:
        found.append("a system message in the middle")
    if not talk or talk[-1].role == "assistant":
        found.append("nobody to answer to")
    if not offered and any(m.role == "tool" or m.tool_calls for m in messages):
        found.append("tool messages without tools")

    ids = [call.id for m in messages for call in m.tool_calls]
    if len(ids) != len(set(ids)) or "" in ids:
        found.append("call ids that are not unique")
    position = 0
    while position < len(talk):
        message = talk[position]
        position += 1
        if message.role == "tool":
            found.append("a result that answers no call before it")
        if message.tool_calls and message.role != "assistant":
            found.append("somebody else calls tools")
        if not message.tool_calls:
            continue
        if not {call.name for call in message.tool_calls} <= offered:
            found.append("a call to a tool that is not there")
        results = list(itertools.takewhile(lambda m: m.role == "tool", talk[position:]))
        if sorted(r.tool_call_id or "" for r in results) != sorted(c.id for c in message.tool_calls):
            found.append("calls and results that do not match")
        position += len(results)

    for message in messages:
        blocks = message.parts or []
        if message.content and not message.content.strip():
            found.append("blank text")
        if not (message.content or message.tool_calls or blocks):
            found.append("an empty message")
        thinks = any(b["type"] == "thinking" for b in blocks)
        if not thinks and any(b["type"] == "text" and not b["text"].strip() for b in blocks):
            found.append("a blank block")
        if any(b["type"] in ("tool_use", "tool_result") for b in blocks):
            found.append("a tool block outside of the calls")
    return found


def tool(name: str) -> ToolSpec:
    return ToolSpec(name=name, description=f"does {name}", input_schema={"type": "object"})


def call(id: str, name: str = "search", arguments: Any = None) -> ToolCall:
    return ToolCall(id=id, name=name, arguments={} if arguments is None else arguments)


def session(**fields: Any) -> Session:
    return Session(
        **{
            "id": "s",
            "label": "研究",
            "role": SessionRole.STANDARD,
            "status": SessionStatus.ACTIVE,
            "strategy": TopologyStrategy.TREE,
            "root_id": "s",
            "created_at": 0,
            "updated_at": 0,
            "last_active_at": 0,
            **fields,
        }
    )


def user(content: str, **fields: Any) -> Draft:
    return Draft(**{"id": "u", "role": MessageRole.USER, "content": content, **fields})


def says(content: str, *calls: ToolCall, **fields: Any) -> Draft:
    return Draft(
        **{"id": "a", "role": MessageRole.ASSISTANT, "content": content, "tool_calls": calls, **fields}
    )


def result(id: str | None, content: str = "ok", name: str | None = "search", **fields: Any) -> Draft:
    return Draft(
        **{
            "id": "t",
            "role": MessageRole.TOOL,
            "content": content,
            "tool_call_id": id,
            "tool_name": name,
            **fields,
        }
    )


def stored(*drafts: Draft, first: int = 1) -> tuple[Message, ...]:
    return tuple(
        Message(
            **{
                **draft.model_dump(),
                "id": f"m{seq}",
                "seq": seq,
                "session_id": "s",
                "created_at": draft.created_at or 100 + seq,
            }
        )
        for seq, draft in enumerate(drafts, first)
    )


def conversation(*drafts: Draft, config: SpaceConfig = PLAIN, **fields: Any) -> Conversation:
    compression = fields.get("compression")
    first = compression.through_seq + 1 if isinstance(compression, Compression) else 1
    return Conversation(session=session(**fields), config=config, transcript=stored(*drafts, first=first))


texts = st.sampled_from(
    [
        "",
        " ",
        "\n\t",
        "hi",
        "你好",
        "<think>x</think>y",
        '{"toolResults": [{"toolCallId": "a"}]}',
        "</x>",
        "…",
    ]
)
blocks = st.sampled_from(
    [
        IMAGE,
        {"type": "text", "text": ""},
        {"type": "text", "text": "seen"},
        {"type": "tool_use", "id": "a", "name": "search", "input": {}},
        {"type": "tool_result", "tool_use_id": "a", "content": "x"},
        {"no": "type"},
        "loose",
    ]
)
parts: st.SearchStrategy[Any] = st.one_of(st.none(), st.just({"not": "a list"}), st.lists(blocks, max_size=3))
names = st.sampled_from(["search", "draw", "gone"])
ids = st.sampled_from(["", "a", "b", "a_2", "call"])
offers = st.sets(names).map(lambda chosen: tuple(tool(name) for name in sorted(chosen)))
calls = st.builds(ToolCall, id=ids, name=names, arguments=st.sampled_from([{}, {"q": "x"}, None, [1], "raw"]))
call_lists = st.lists(calls, max_size=3).map(tuple)
seqs = st.one_of(st.none(), st.integers(0, 12))

drafts = st.builds(
    Draft,
    id=st.just("d"),
    role=st.sampled_from(MessageRole),
    content=texts,
    parts=parts,
    state=st.sampled_from(MessageState),
    tool_calls=call_lists,
    tool_call_id=st.one_of(st.none(), ids),
    tool_name=st.one_of(st.none(), names),
    is_error=st.booleans(),
)
compressions = st.one_of(
    st.none(),
    st.builds(
        Compression, summary=texts, through_seq=st.integers(0, 5), tokens=st.just(1), created_at=st.just(1)
    ),
)
conversations = st.builds(
    lambda items, compression, label, prompt, role: Conversation(
        session=session(label=label, system_prompt=prompt, compression=compression, role=role, synthesis="S"),
        config=SpaceConfig(system_prompt="space"),
        transcript=stored(*items),
    ),
    st.lists(drafts, max_size=8),
    compressions,
    texts,
    st.one_of(st.none(), texts),
    st.sampled_from(SessionRole),
)

patches: st.SearchStrategy[Patch] = st.one_of(
    st.builds(AssistantMessage, content=texts, parts=parts, tool_calls=call_lists, seq=seqs),
    st.builds(AssistantTruncated, content=texts, parts=parts, tool_calls=call_lists, seq=seqs),
    st.builds(ToolResult, tool_call_id=ids, tool_name=names, content=texts, is_error=st.booleans(), seq=seqs),
    st.builds(MultimodalToolResult, tool_call_id=ids, content=texts, parts=parts, seq=seqs),
    st.builds(ToolCancelled, tool_call_id=ids, tool_name=names, content=texts, seq=seqs),
    st.builds(ContextSummary, summary=texts, through_seq=st.integers(0, 12)),
)
patch_lists = st.lists(patches, max_size=8)


@st.composite
def turns(draw: st.DrawFn) -> list[Draft]:
    """What a turn stores that goes well: the user, rounds of calls and results, a reply."""
    told = [user(draw(st.sampled_from(["find it", "再找"])))]
    for round in range(draw(st.integers(0, 3))):
        asked = tuple(
            call(f"c{round}_{number}", draw(st.sampled_from(["search", "draw"])))
            for number in range(draw(st.integers(1, 3)))
        )
        told.append(says(draw(texts), *asked))
        told += [result(each.id, draw(texts), each.name) for each in asked]
    return [*told, says("done")]
