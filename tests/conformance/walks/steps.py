"""What a walk consists of, and how it is drawn."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from stello_graph.model.context import ReplyStop
from stello_graph.model.message import MessageRole, ToolCall
from stello_graph.model.requests import AppendedMessage, WhenBusy
from tests.conformance.walks.model import Answer
from tests.conformance.walks.tools import NAMES

__all__ = ["Step", "answers", "steps"]


@dataclass(frozen=True)
class Step:
    """One step: `kind` names a method of the walk; which session and which process by number."""

    kind: str
    session: int
    process: int
    given: Any = None


_texts = st.sampled_from(["", " \n", "Ok.", "你好 👋 world", "A longer text, in two halves."])
_arguments = st.sampled_from([{}, {"count": 3}, {"count": "many"}, {"unknown": [1]}, "text", None])
# Providers that count anew in each reply, an id that is illegal or empty.
_ids = st.sampled_from(["call_0", "call_1", "a/b:c", "", "x" * 70])
_calls = st.lists(st.tuples(_ids, st.sampled_from(NAMES), _arguments), min_size=1, max_size=3).map(tuple)

answers = st.lists(
    st.one_of(
        st.builds(Answer, text=_texts, thinks=st.booleans(), waits=st.booleans()),
        *[st.builds(Answer, text=_texts, thinks=st.booleans(), calls=_calls, waits=st.booleans())] * 3,
        st.builds(
            Answer,
            text=_texts,
            thinks=st.booleans(),
            calls=st.just(()) | _calls,
            stop=st.sampled_from([ReplyStop.MAX_TOKENS, ReplyStop.REFUSAL]),
        ),
        st.builds(Answer, text=_texts, waits=st.booleans(), fails=st.just(True)),
    ),
    min_size=8,
    max_size=16,
)


def _told(role: MessageRole, content: str, **more: Any) -> AppendedMessage:
    return AppendedMessage(role=role, content=content, **more)


_group = (
    _told(MessageRole.ASSISTANT, "", tool_calls=(ToolCall(id="call_0", name="gone", arguments={}),)),
    _told(MessageRole.TOOL, "", tool_call_id="call_0"),
)
_image = {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}
_appended = st.sampled_from(
    [
        (_told(MessageRole.USER, "Imported."),),
        (_told(MessageRole.ASSISTANT, "Before."), _told(MessageRole.ASSISTANT, "And again.")),
        _group,
        (*_group, *_group),
        (_told(MessageRole.USER, "", parts=[_image]),),
        (_told(MessageRole.ASSISTANT, "", parts=[{"type": "thinking", "thinking": "x", "signature": "no"}]),),
        (_told(MessageRole.TOOL, "of no call", tool_call_id="none"),),
    ]
)


def _step(kind: str, given: Any = None) -> st.SearchStrategy[Step]:
    return st.builds(
        Step,
        kind=st.just(kind),
        session=st.integers(0, 3),
        process=st.integers(0, 2),
        given=st.none() if given is None else given,
    )


_sends = _step("send", st.sampled_from([WhenBusy.QUEUE, WhenBusy.REJECT, WhenBusy.INTERRUPT]))

steps = st.lists(
    st.one_of(
        _sends,
        *[_step("start", st.sampled_from(["", "once", "twice"]))] * 3,
        _sends,
        _step("confirm", st.booleans()),
        _step("kill", st.tuples(st.integers(1, 6), st.booleans())),
        _step("release"),
        _step("cancel"),
        _step("trim", st.integers(0, 6)),
        _step("compact", st.integers(0, 6)),
        _step("append", _appended),
        _step("fork", st.floats(0, 1)),
        _step("choose", st.sampled_from(["model-a", "model-b"])),
        _step("insight"),
    ),
    min_size=6,
    max_size=16,
)
