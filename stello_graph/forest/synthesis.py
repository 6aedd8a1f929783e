"""What a model is asked to integrate, and what becomes of its answer. Pure."""

import contextlib
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from stello_graph.model.context import ModelRequest
from stello_graph.model.memory import InsightDraft, ToIntegrate
from stello_graph.ports import LLM
from stello_graph.session.context.text import is_blank, one_line, plain, without_thinking
from stello_graph.session.context.tokens import estimate
from stello_graph.session.memory import distil, newest_lines, shortened
from stello_graph.session.prompts import INTEGRATE_PROMPT, ROLLUP_PROMPT, block, task_messages

__all__ = ["Told", "digest_line", "integrate_request", "parsed", "rollup_request", "shown_ids"]

_WINDOW = 200_000
_LEAST_INPUT = 200
_SHOWN = re.compile(r"\[sessionId=([A-Za-z0-9._:-]{1,128})\]")
_SYNTHESIS = re.compile(r'"synthesis"\s*:\s*("(?:[^"\\]|\\.)*")', re.DOTALL)

Told = tuple[str, tuple[InsightDraft, ...]]


def digest_line(id: str, label: str, text: str) -> str:
    """`[sessionId=ID] label: digest`, on one line."""
    return f"[sessionId={id}] {one_line(label)}: {' '.join(text.split())}"


def integrate_request(
    llm: LLM, found: ToIntegrate, lines: Sequence[str], *, left_out: int = 0
) -> ModelRequest:
    """The request that integrates; its input takes half of the window at most, the newest lines.

    Args:
        lines: of the sessions, newest changed first.
        left_out: how many sessions there are besides.
    """
    session, config = found.session, found.config
    prompt = session.overrides.integrate_prompt or config.integrate_prompt or INTEGRATE_PROMPT
    window = _window(llm, found)
    synthesis = block("当前综述", shortened(session.synthesis or "", window // 8))
    return _request(llm, found, prompt, synthesis, "会话摘要", lines, left_out)


def rollup_request(
    llm: LLM, found: ToIntegrate, own: str | None, lines: Sequence[str], *, left_out: int = 0
) -> ModelRequest:
    """The request that rolls a session's digest and what is directly below it up into one text."""
    digest = block("本会话摘要", shortened(own or "", _window(llm, found) // 8))
    return _request(llm, found, ROLLUP_PROMPT, digest, "下级会话摘要", lines, left_out)


def shown_ids(request: ModelRequest) -> set[str]:
    """The sessions that a request names."""
    return set(_SHOWN.findall(request.messages[-1].content))


def parsed(text: str) -> Told | None:
    """The synthesis of an answer and its insights, one a session; None where it says nothing.

    An answer without usable JSON is the synthesis itself. Entries that are not what was asked for are
    left out; a synthesis of "" means that only insights came.
    """
    said = without_thinking(text)
    found = _object(said)
    if found is None:
        return _without_json(said)
    synthesis = found.get("synthesis")
    synthesis = plain(synthesis) if isinstance(synthesis, str) else ""
    insights = _insights(found.get("insights"))
    return None if is_blank(synthesis) and not insights else (synthesis, insights)


def _request(
    llm: LLM,
    found: ToIntegrate,
    prompt: str,
    before: str,
    heading: str,
    lines: Sequence[str],
    left_out: int,
) -> ModelRequest:
    window = _window(llm, found)
    budget = max(window // 2 - estimate(task_messages(prompt, None, [before])), _LEAST_INPUT)
    each = max(budget // 8, _LEAST_INPUT // 2)
    kept = newest_lines([shortened(line, each) for line in reversed(lines)], budget)
    rest = left_out + len(lines) - len(kept)
    told = [*kept, f"（另有 {rest} 个会话的摘要更早，未列出）"] if rest else kept
    return ModelRequest(
        model=_model(llm, found),
        messages=task_messages(prompt, None, [before, block(heading, "\n".join(told))]),
        max_output_tokens=min(found.config.max_output_tokens, window // 4),
    )


def _model(llm: LLM, found: ToIntegrate) -> str:
    own, config = found.session.overrides.model, found.config
    return own or config.integrate_model or config.model or llm.default_model


def _window(llm: LLM, found: ToIntegrate) -> int:
    known = (llm.window(_model(llm, found)), found.config.max_context_tokens)
    return min(filter(None, known), default=_WINDOW)


def _object(text: str) -> dict[str, Any] | None:
    """What stands from the first brace to the last, where that is a JSON object with something of ours."""
    try:
        found = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.keys() & {"synthesis", "insights"} else None


def _without_json(said: str) -> Told | None:
    """The text itself; of JSON that broke off, the synthesis where that is whole."""
    broken = _SYNTHESIS.search(said)
    if broken is not None:
        with contextlib.suppress(ValueError):
            said = json.loads(broken[1], strict=False)
    synthesis = distil(said)
    return (synthesis, ()) if synthesis else None


def _insights(given: Any) -> tuple[InsightDraft, ...]:
    contents: dict[str, list[str]] = {}
    for id, content in _entries(given if isinstance(given, list) else ()):
        contents.setdefault(id, []).append(content)
    return tuple(InsightDraft(session_id=id, content="\n\n".join(all)) for id, all in contents.items())


def _entries(given: Iterable[Any]) -> Iterable[tuple[str, str]]:
    for entry in given:
        match entry:
            case {"sessionId": str(id), "content": str(content)} if not is_blank(plain(content)):
                yield id.strip(), plain(content)
