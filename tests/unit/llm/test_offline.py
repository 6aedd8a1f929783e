import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.llm.offline import OfflineLLM
from stello_graph.llm.offline_extract import digest, is_chinese, short
from stello_graph.model.context import ContextOrigin, ModelRequest, ReplyStop
from stello_graph.ports import LLM
from tests.unit.llm.asking import assistant, listen, request, system, user

CHINESE = "user: 我想在上海办公司，预算五十万。\nassistant: 建议先租共享办公室。\nuser: 好的，就这样定。\n"
ENGLISH = "user: I want to open an office in Lisbon.\nassistant: Start with a shared one.\nuser: Agreed.\n"


async def answer(*messages: Any, **fields: Any) -> str:
    return (await listen(OfflineLLM(delay=0), request(*messages, **{"max_output_tokens": 1000, **fields})))[
        1
    ].text


async def test_it_is_a_model() -> None:
    llm: LLM = OfflineLLM()

    assert llm.is_offline
    assert llm.default_model == "offline"
    assert llm.window("offline") == 200_000
    await llm.aclose()


async def test_a_chinese_answer() -> None:
    text = await answer(system("s"), user("上海怎么样？"), assistant("很好。"), user("那北京呢？"))

    assert "离线模型" in text
    assert "那北京呢？" in text
    assert "2 条消息" in text
    assert "上海怎么样？" in text


async def test_another_answer() -> None:
    text = await answer(user("What about Porto?"), assistant("Fine."), user("And Lisbon?"))

    assert "offline model" in text
    assert "And Lisbon?" in text
    assert "Messages before it: 2." in text


async def test_the_first_exchange_and_a_long_message() -> None:
    text = await answer(user("word " * 1000))

    assert "first exchange" in text
    assert len(text) < 400


async def test_an_insight_is_taken_up() -> None:
    insight = system("The other session chose Faro.", ContextOrigin.INSIGHT)

    assert "chose Faro" in await answer(insight, user("And now?"))
    assert "chose Faro" in await answer(insight, user("现在呢？"))


async def test_chunks_and_usage() -> None:
    chunks, reply = await listen(OfflineLLM(delay=0), request(user("hello there")))

    assert len(chunks) > 5
    assert "".join(chunks) == reply.text
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.usage.llm_calls == 1


async def test_the_delay() -> None:
    start = time.monotonic()
    await listen(OfflineLLM(delay=0.001), request(user("hi")))

    assert time.monotonic() - start > 0.005


async def test_it_is_deterministic() -> None:
    assert await answer(user("hello")) == await answer(user("hello"))


async def test_max_tokens() -> None:
    _, reply = await listen(OfflineLLM(delay=0), request(user("hello"), max_output_tokens=5))

    assert (reply.text, reply.stop, reply.usage.output_tokens) == (
        "[offline model] No r",
        ReplyStop.MAX_TOKENS,
        5,
    )


@pytest.mark.parametrize(
    "heading",
    ["对话记录\n", "对话记录：\n", "【对话记录】\n", "## 对话记录\n", "当前摘要：\n旧的摘要\n\n对话记录：\n"],
)
async def test_digests_are_asked_for_by_their_shape(heading: str) -> None:
    text = await answer(system("task"), user(heading + CHINESE))

    assert 100 <= len(text) <= 150
    assert "离线模型】" not in text
    assert "上海" in text


async def test_the_digest_before_is_kept() -> None:
    assert "选定了葡萄牙" in await answer(
        system("task"), user(f"当前摘要：\n选定了葡萄牙\n\n对话记录：\n{CHINESE}")
    )


async def test_an_english_digest() -> None:
    text = await answer(system("task"), user("对话记录\n" + ENGLISH))

    assert 60 <= len(text.split()) <= 100
    assert "Lisbon" in text


async def test_talk_about_records_is_no_digest() -> None:
    assert "离线模型】" in await answer(user("一"), assistant("二"), user("对话记录\n" + CHINESE))
    assert "离线模型】" in await answer(user("请把对话记录发给我"))


async def test_thinking_is_not_digested() -> None:
    text = await answer(user("对话记录\nuser: 你好\nassistant: <think>秘密\n还是秘密</think>再见"))

    assert "秘密" not in text
    assert "think" not in text


async def test_integration() -> None:
    lines = "[sessionId=a] 酒店: 选好了海边的酒店\n[sessionId=b] 机票: 买了周五的机票"
    made = json.loads(await answer(system("task"), user(lines)))

    assert "酒店" in made["synthesis"]
    assert [insight["sessionId"] for insight in made["insights"]] == ["a", "b"]
    assert "机票" in made["insights"][0]["content"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("你好", True),
        ("hello", False),
        ("用 Python 写一个函数", True),
        ("東京へ行きたい", False),
        ("안녕", False),
        ("", False),
    ],
)
def test_is_chinese(text: str, expected: bool) -> None:
    assert is_chinese(text) is expected


def test_short() -> None:
    assert short("a\n  b", 10) == "a b"
    assert short("abcdef", 4) == "abc…"


lines = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=300)), max_size=20
)


@given(before=st.text(max_size=200), lines=lines)
def test_any_record_gives_a_digest_of_the_right_length(before: str, lines: list[tuple[str, str]]) -> None:
    text = digest(before, "\n".join(f"{role}: {content}" for role, content in lines))

    assert text == text.strip()
    assert len(text.splitlines()) == 1
    if "对话共" in text:
        assert 100 <= len(text) <= 150
    else:
        assert 60 <= len(text.split()) <= 100


async def test_nothing_said() -> None:
    assert "offline model" in await answer()
    assert isinstance(request(), ModelRequest)
