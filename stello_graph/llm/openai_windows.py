"""The windows of OpenAI's models, as documented in autumn 2026. Pure."""

import re

__all__ = ["window_of"]

_WINDOWS = {
    "gpt-6": 922_000,
    "gpt-6.1": 922_000,
    "gpt-6.2": 922_000,
    "gpt-5.6": 922_000,
    "gpt-5.5": 922_000,
    "gpt-5.4": 922_000,
    "gpt-5.4-mini": 272_000,
    "gpt-5.4-nano": 272_000,
    "gpt-5.2": 272_000,
    "gpt-5.1": 272_000,
    "gpt-5": 272_000,
    "gpt-4.1": 1_047_576,
    "gpt-4o": 128_000,
    "gpt-4-turbo": 128_000,
    "chatgpt-4o": 128_000,
    "o4-mini": 200_000,
    "o3": 200_000,
    "o1": 200_000,
}

_CHAT = re.compile(r"gpt-5(\.\d)?-chat(-|$)")
"""The models of ChatGPT, whose window is smaller than that of their family."""


def window_of(model: str) -> int | None:
    """The context window of `model` in tokens; None where it is not known, as for any local model.

    It is what a prompt may take: of the 400,000 tokens of gpt-5 and the 1,050,000 of gpt-5.4 to gpt-6,
    128,000 are the reply's alone. A gateway's prefix (`openai/…`) is overlooked.
    """
    name = model.rpartition("/")[2]
    if _CHAT.match(name):
        return 128_000
    known = [family for family in _WINDOWS if name == family or name.startswith(f"{family}-")]
    return _WINDOWS[max(known, key=len)] if known else None
