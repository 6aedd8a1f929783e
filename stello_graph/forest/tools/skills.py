"""The model loads a skill when it needs one."""

from typing import Annotated, Any

from pydantic import Field

from stello_graph.errors import NotFound
from stello_graph.forest.skills import SkillBook
from stello_graph.forest.tools.own import OwnTool
from stello_graph.forest.tools.port import CallContext
from stello_graph.model.context import Conversation, ToolSpec

__all__ = ["ActivateSkill"]

Name = Annotated[str, Field(description="The skill's name.")]


class ActivateSkill(OwnTool):
    """`activate_skill`: lists the skills that a session may use, and gives the content of one."""

    def __init__(self, book: SkillBook) -> None:
        self._book = book
        super().__init__("activate_skill", self._activate)

    def spec(self, conversation: Conversation) -> ToolSpec | None:
        """The tool with the names of what this session may use; None where that is nothing."""
        skills = self._book.allowed(conversation.session, conversation.skills)
        if not skills:
            return None
        lines = (f"- {skill.name}: {skill.description}".rstrip(": ") for skill in skills)
        schema = self.general.input_schema
        name = {**schema["properties"]["name"], "enum": [skill.name for skill in skills]}
        return self.general.model_copy(
            update={
                "description": "\n".join((self.general.description, *lines)),
                "input_schema": {**schema, "properties": {"name": name}},
            }
        )

    async def _activate(self, call: CallContext, name: Name) -> Any:
        """Loads the instructions of a skill. Do so before you work on what the skill is for."""
        found = await call.store.sessions([call.session_id])
        if call.session_id not in found:
            raise NotFound.of("session", call.session_id)
        # The whitelist as it is now: it may have been changed since the turn began.
        skill = await self._book.find(call.store, found[call.session_id], name)
        return skill.content
