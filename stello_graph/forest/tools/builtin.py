"""The tools that every server has."""

from typing import Annotated, Any, Literal

from pydantic import Field

from stello_graph.forest.fork import fork
from stello_graph.forest.tools.function import ToolFunction
from stello_graph.forest.tools.port import CallContext, ServerTool
from stello_graph.model.context import Conversation, ToolSpec
from stello_graph.model.requests import Fork
from stello_graph.model.values import ForkContext
from stello_graph.ports import LLM

__all__ = ["builtin_tools"]


class CreateSession:
    """`stello_create_session`: a fork from inside a turn. It never waits for its own turn."""

    name = "stello_create_session"

    def __init__(self, llm: LLM, limit: int) -> None:
        self._llm = llm
        self._limit = limit
        self._function = ToolFunction(self._fork, CallContext)
        self.general = ToolSpec(
            name=self.name, description=self._function.description, input_schema=self._function.schema
        )

    def spec(self, _conversation: Conversation) -> ToolSpec:
        """See ServerTool."""
        return self.general

    async def run(self, arguments: Any, context: CallContext) -> object:
        """See ServerTool."""
        return await self._function(arguments, context)

    async def _fork(
        self,
        context_: CallContext,
        label: Annotated[str, Field(description="What the new session is about, in a few words.")],
        systemPrompt: Annotated[  # noqa: N803
            str | None, Field(description="Instructions for the new session; left out: this session's.")
        ] = None,
        prompt: Annotated[
            str | None, Field(description="Opening words, which the new session starts with.")
        ] = None,
        context: Annotated[
            Literal["none", "inherit", "compress"] | None,
            Field(description="What it knows of this conversation: nothing, all of it, or a summary."),
        ] = None,
        profile: Annotated[str | None, Field(description="Name of a fork profile to start from.")] = None,
        vars: Annotated[
            dict[str, Any] | None, Field(description="Variables of the profile's prompt.")
        ] = None,
        skills: Annotated[
            list[str] | None, Field(description="The only skills that it may activate.")
        ] = None,
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
        asked = Fork.model_validate({"source_session_id": context_.session_id, "label": label, **told})
        session = await fork(context_.store, self._llm, asked, self._limit, by_tool=True)
        return {"sessionId": session.id, "label": session.label}


def builtin_tools(llm: LLM, limit: int) -> list[ServerTool]:
    """All of them.

    Args:
        llm: summarises the context of a fork.
        limit: bytes of a text at most.
    """
    return [CreateSession(llm, limit)]
