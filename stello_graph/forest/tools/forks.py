"""The model forks its own session."""

from typing import Annotated, Any, Literal

from pydantic import Field

from stello_graph.forest.fork import fork
from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.hooks import ForkEvent
from stello_graph.forest.tools.own import OwnTool
from stello_graph.forest.tools.port import CallContext, ServerTool
from stello_graph.model.requests import Fork
from stello_graph.model.values import ForkContext
from stello_graph.ports import LLM
from stello_graph.session.summaries import Compress

__all__ = ["create_session_tool"]

Label = Annotated[str, Field(description="What the new session is about, in a few words.")]
SystemPrompt = Annotated[
    str | None, Field(description="Instructions for the new session; left out: this session's.")
]
Prompt = Annotated[str | None, Field(description="Opening words, which the new session starts with.")]
Context = Annotated[
    Literal["none", "inherit", "compress"] | None,
    Field(description="What it knows of this conversation: nothing, all of it, or a summary."),
]
Profile = Annotated[str | None, Field(description="Name of a fork profile to start from.")]
Vars = Annotated[dict[str, Any] | None, Field(description="Variables of the profile's prompt.")]
Skills = Annotated[list[str] | None, Field(description="The only skills that it may activate.")]


def create_session_tool(
    llm: LLM, limit: int, hooks: HookRunner, compress: Compress | None = None
) -> ServerTool:
    """`stello_create_session`: a fork from inside a turn. It never waits for its own turn.

    Args:
        limit: bytes of a text at most.
        hooks: told of the fork.
    """

    async def create_session(
        call: CallContext,
        label: Label,
        systemPrompt: SystemPrompt = None,  # noqa: N803
        prompt: Prompt = None,
        context: Context = None,
        profile: Profile = None,
        vars: Vars = None,
        skills: Skills = None,
    ) -> object:
        """Opens a new session below this one, for a topic that deserves a conversation of its own.

        Use it when the conversation splits into separate threads. The new session runs by itself:
        you get its id, not its answers.
        """
        given = {
            "system_prompt": systemPrompt,
            "prompt": prompt,
            "context": None if context is None else ForkContext(context.upper()),
            "profile": profile,
            "vars": vars,
            "skills": None if skills is None else tuple(skills),
        }
        told = {name: value for name, value in given.items() if value is not None}
        asked = Fork.model_validate({"source_session_id": call.session_id, "label": label, **told})
        session = await fork(call.store, llm, asked, limit, by_tool=True, compress=compress)
        hooks.fire("on_session_fork", ForkEvent(call.store.space_id, session.id, call.session_id))
        return {"sessionId": session.id, "label": session.label}

    return OwnTool("stello_create_session", create_session)
