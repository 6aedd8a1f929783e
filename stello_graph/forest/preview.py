"""What the model would see next: compiled by the same function as a turn's request."""

from stello_graph.forest.tools.toolbox import Toolbox
from stello_graph.ports import LLM, SpaceStore
from stello_graph.session.context.compile import Compiled, compile_context
from stello_graph.session.model_choice import window_of

__all__ = ["preview"]


async def preview(store: SpaceStore, llm: LLM, toolbox: Toolbox, session_id: str, content: str) -> Compiled:
    """Consumes nothing, calls no model."""
    conversation = await store.conversation(session_id)
    pending = conversation.session.insight
    return compile_context(
        conversation,
        content,
        insight=None if pending is None else pending.content,
        max_context_tokens=window_of(conversation, llm),
        tools=toolbox.offered(conversation),
    )
