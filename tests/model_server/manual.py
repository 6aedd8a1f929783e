"""Answers for trials by hand: the last text decides."""

import json
import re
from typing import Any

from tests.model_server.answers import Answer, Refuse, Scripted, say, think, use
from tests.model_server.server import echo

__all__ = ["by_hand"]

_HELP = (
    "Commands: /tool NAME {json}, /think TEXT, /long WORDS, /slow, /cut, /refuse, /error STATUS, /midway,"
    " /break. Anything else is echoed."
)


def by_hand(body: dict[str, Any]) -> Scripted:
    """Does what a command in the last user text says, else echoes with some numbers about the request."""
    number = len(body["messages"])
    text = echo(body).removeprefix("You said: ").split(" / ")[-1]
    command, _, rest = text.strip().partition(" ")
    match command:
        case "/help":
            return _HELP
        case "/tool" if body.get("tools"):
            name, _, arguments = rest.partition(" ")
            return Answer([say(f"I call {name}."), use(name, _json(arguments), id=f"toolu_{number}")])
        case "/think":
            thought = think(f"They want me to think: {rest}", f"sig-{number}-{abs(hash(rest))}")
            return Answer([thought, say(f"I thought about it: {rest}")])
        case "/long":
            return Answer([say("word " * int(re.sub(r"\D", "", rest) or 200))], pause=0.01)
        case "/slow":
            return Answer(
                [say("This comes slowly, a few characters at a time, so it can be cut off.")], pause=0.3
            )
        case "/cut":
            return Answer([say("This ends in the middle of")], stop="max_tokens")
        case "/refuse":
            return Answer([], stop="refusal")
        case "/error":
            return Refuse(int(re.sub(r"\D", "", rest) or 529), message="as you wished")
        case "/midway":
            return Answer(
                [say("This breaks off with an error.")], error=("overloaded_error", "Overloaded"), fail_at=2
            )
        case "/break":
            return Answer([say("This loses its connection.")], drop=True, fail_at=2)
    tools, system = len(body.get("tools") or []), len(str(body.get("system", "")))
    about = f"{number} messages, {tools} tools, {system} characters of system prompt"
    return f"{echo(body)}\n\n({about}; /help lists what I can do)"


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        value = {"text": text}
    return value if isinstance(value, dict) else {"value": value}
