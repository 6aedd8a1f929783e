"""The tools that every server has."""

from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.skills import SkillBook
from stello_graph.forest.tools.forks import create_session_tool
from stello_graph.forest.tools.memories import memory_tools
from stello_graph.forest.tools.port import ServerTool
from stello_graph.forest.tools.skills import ActivateSkill
from stello_graph.ports import LLM
from stello_graph.session.summaries import Compress

__all__ = ["builtin_tools"]


def builtin_tools(
    llm: LLM, skills: SkillBook, limit: int, hooks: HookRunner, compress: Compress | None = None
) -> list[ServerTool]:
    """All of them; a conversation is offered those that it has a use for.

    Args:
        llm: summarises the context of a fork, where `compress` does not.
        limit: bytes of a text at most.
        hooks: told of forks.
    """
    return [create_session_tool(llm, limit, hooks, compress), ActivateSkill(skills), *memory_tools()]
