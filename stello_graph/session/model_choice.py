"""Which model a session talks to, and how long its window is."""

from stello_graph.model.context import Conversation
from stello_graph.ports import LLM

__all__ = ["DEFAULT_WINDOW", "model_of", "window_of"]

DEFAULT_WINDOW = 200_000


def model_of(conversation: Conversation, llm: LLM) -> str:
    """The session's own model, else the Space's, else the server's."""
    return conversation.session.overrides.model or conversation.config.model or llm.default_model


def window_of(conversation: Conversation, llm: LLM) -> int:
    """The window in tokens: the Space's setting, else the known model's, else 200,000."""
    return conversation.config.max_context_tokens or llm.window(model_of(conversation, llm)) or DEFAULT_WINDOW
