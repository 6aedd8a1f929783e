"""What the model says in these tests: by what it was asked, since turns run side by side."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.model_server import Answer, Refuse, say

__all__ = ["MIXED", "asked", "by_question", "slow", "texts"]

Scripted = str | Answer | Refuse
# Characters of one to four bytes, and one that is five code points with a joiner.
MIXED: Final = "Über 東京 🗾 und 家族 👨‍👩‍👧 — naïve 🎉 café 한국어 done. "


def texts(body: Mapping[str, Any]) -> list[str]:
    """The text blocks of the last message."""
    content = body["messages"][-1]["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [block["text"] for block in blocks if block["type"] == "text"]


def asked(body: Mapping[str, Any]) -> str:
    """What the user said last."""
    return texts(body)[-1]


def by_question(answers: Mapping[str, Callable[[], Scripted] | Scripted]) -> Callable[[Any], Scripted]:
    """Answers by the question's first word; what is not known is echoed."""

    def respond(body: dict[str, Any]) -> Scripted:
        question = asked(body)
        answer = answers.get(question.split()[0], f"You said: {question}")
        return answer() if callable(answer) else answer

    return respond


def slow(text: str, *, pause: float = 0.03, chunk: int = 7, **more: Any) -> Answer:
    """A reply that takes its time."""
    return Answer([say(text)], pause=pause, chunk=chunk, **more)
