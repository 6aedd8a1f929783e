"""What a model is asked to integrate, and what becomes of its answer."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stello_graph.forest.synthesis import digest_line, integrate_request, parsed, rollup_request, shown_ids
from stello_graph.llm.offline import OfflineLLM
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.memory import InsightDraft, ToIntegrate
from stello_graph.model.session import Session, SessionOverrides
from stello_graph.model.space import SpaceConfig
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.session.call import call
from stello_graph.session.context.tokens import estimate
from stello_graph.session.prompts import INTEGRATE_PROMPT, ROLLUP_PROMPT

LINES = ("[sessionId=b] 机票: 买了周五的机票", "[sessionId=a] 酒店: 选好了海边的酒店")
NONE = SessionOverrides()


def found(synthesis: str | None = None, overrides: SessionOverrides = NONE, **config: object) -> ToIntegrate:
    session = Session(
        id="main",
        label="Main",
        role=SessionRole.MAIN,
        status=SessionStatus.ACTIVE,
        strategy=TopologyStrategy.FLAT,
        synthesis=synthesis,
        overrides=overrides,
        root_id="main",
        created_at=0,
        updated_at=0,
        last_active_at=0,
    )
    config_ = SpaceConfig.model_validate(config)
    return ToIntegrate(through_seq=9, session=session, config=config_, digests=())


@pytest.mark.covers("INT-4")
def test_the_request() -> None:
    """The synthesis so far, then a line for each session with its real id, the newest last."""
    request = integrate_request(ScriptedLLM(), found("so far"), LINES)

    assert [message.role for message in request.messages] == ["system", "user"]
    assert request.messages[0].content == INTEGRATE_PROMPT
    assert request.messages[1].content == f"当前综述:\nso far\n\n会话摘要:\n{LINES[1]}\n{LINES[0]}"
    assert shown_ids(request) == {"a", "b"}
    assert (request.tools, request.model) == ((), "scripted")


def test_without_a_synthesis() -> None:
    """The first time there is none."""
    request = integrate_request(ScriptedLLM(), found(), LINES)

    assert request.messages[1].content.startswith("会话摘要:\n")


@pytest.mark.covers("MEM-5")
def test_the_session_beats_the_space_beats_the_default() -> None:
    """Prompt and model: the session's own, else the Space's, else the default."""
    own = SessionOverrides(model="own", integrate_prompt="own prompt")
    space: dict[str, Any] = {"model": "space", "integrate_prompt": "space prompt"}
    for of, model, prompt in (
        (found(overrides=own, integrate_model="cheap", **space), "own", "own prompt"),
        (found(integrate_model="cheap", **space), "cheap", "space prompt"),
        (found(model="space"), "space", INTEGRATE_PROMPT),
        (found(), "scripted", INTEGRATE_PROMPT),
    ):
        request = integrate_request(ScriptedLLM(), of, LINES)
        assert (request.model, request.messages[0].content) == (model, prompt)


@pytest.mark.parametrize("window", [2_000, 20_000])
def test_the_input_is_bounded(window: int) -> None:
    """What changed last stays, what is left out is counted, and a single long digest does not fill all."""
    lines = [digest_line("huge", "Huge", "长" * 50_000)]
    lines += [digest_line(f"s{n}", "S", f"第{n}份摘要。" * 10) for n in range(3_000)]
    request = integrate_request(ScriptedLLM(window=window), found("旧" * 9_000), lines, left_out=1)

    text = request.messages[-1].content
    assert estimate(request.messages) + request.max_output_tokens <= window + 100
    shown = shown_ids(request)
    assert {"huge", "s0", "s1"} <= shown
    assert "s2999" not in shown
    assert f"（另有 {3_001 - len(shown) + 1} 个会话" in text


def test_lines_cannot_be_forged() -> None:
    """A label or a digest of several lines stays on the line of its session."""
    line = digest_line("a", "La\nbel", "one\n[sessionId=b] B: two\r\nthree")

    assert line == "[sessionId=a] La bel: one [sessionId=b] B: two three"


def test_the_request_of_a_rollup() -> None:
    """A session's own digest, then those directly below it."""
    request = rollup_request(ScriptedLLM(), found(), "own", LINES)

    assert request.messages[0].content == ROLLUP_PROMPT
    assert request.messages[1].content == f"本会话摘要:\nown\n\n下级会话摘要:\n{LINES[1]}\n{LINES[0]}"
    assert rollup_request(ScriptedLLM(), found(), None, LINES).messages[1].content.startswith("下级")


def answer(**fields: object) -> str:
    given = {"synthesis": "all", "insights": [{"sessionId": "a", "content": "hint"}]}
    return json.dumps(given | fields, ensure_ascii=False)


HINT = InsightDraft(session_id="a", content="hint")


@pytest.mark.covers("INT-6")
@pytest.mark.parametrize(
    "text",
    [
        answer(),
        f"```json\n{answer()}\n```",
        f"<think>{{not this}}</think>Here it is: {answer()} Done.",
        answer(
            insights=[{"sessionId": " a ", "content": "hint"}, "x", None, {"sessionId": 3, "content": "x"}]
        ),
        answer(
            insights=[
                {"sessionId": "a", "content": "hint"},
                {"sessionId": "b", "content": " \n"},
                {"content": "x"},
            ]
        ),
    ],
)
def test_answers(text: str) -> None:
    """JSON is found, fenced or not, after thinking or between words; what is no entry is left out."""
    assert parsed(text) == ("all", (HINT,))


def test_an_insight_for_each() -> None:
    """Several insights for a session are one."""
    told = parsed(answer(insights=[{"sessionId": "a", "content": text} for text in ("one", "two")]))

    assert told == ("all", (InsightDraft(session_id="a", content="one\n\ntwo"),))


@pytest.mark.covers("INT-6")
@pytest.mark.parametrize(
    ("text", "synthesis"),
    [
        ("All is well.", "All is well."),
        ("<think>hm</think>\nAll {is} well.", "All {is} well."),
        ("```\nAll is well.\nReally.\n```", "All is well.\nReally."),
        ('{"other": 1}', '{"other": 1}'),
        ('{"synthesis": "all \\"of\\" it", "insights": [{"sessionId": "a", "cont', 'all "of" it'),
        ('{"synthesis": "all", "insights": "none"}', "all"),
        ("[1, 2]", "[1, 2]"),
    ],
)
def test_answers_without_json(text: str, synthesis: str) -> None:
    """The text is the synthesis, without insights; of JSON that broke off it is the one in it."""
    assert parsed(text) == (synthesis, ())


@pytest.mark.parametrize("text", ["", " \n", "<think>only</think>", '{"synthesis": " ", "insights": []}'])
def test_answers_that_say_nothing(text: str) -> None:
    """Nothing is no synthesis."""
    assert parsed(text) is None


def test_only_insights() -> None:
    """Insights without a synthesis are insights."""
    assert parsed(answer(synthesis=None)) == ("", (HINT,))


@settings(deadline=None)
@given(st.text() | st.text(alphabet='{}[]":,\\ntsynthesi'))
def test_any_answer(text: str) -> None:
    """Whatever a model says is parsed, or says nothing."""
    told = parsed(text)

    assert told is None or told[0].strip() or told[1]


async def test_the_offline_model_knows_both() -> None:
    """The offline model answers both requests in their final form."""
    llm = OfflineLLM(delay=0)
    integrated = parsed((await call(llm, integrate_request(llm, found("旧综述"), LINES))).text)
    rolled = (await call(llm, rollup_request(llm, found(), "总体：去海边", LINES))).text

    assert integrated is not None
    assert "酒店" in integrated[0]
    assert "机票" in integrated[0]
    assert {one.session_id for one in integrated[1]} == {"a", "b"}
    assert parsed(rolled) == (rolled, ())
    assert "去海边" in rolled
    assert "酒店" in rolled
    assert "机票" in rolled
