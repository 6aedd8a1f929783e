"""Which skills a session may use: those stored in its Space beside those of folders."""

from collections.abc import Iterable
from typing import TypeVar

from stello_graph.errors import NotFound
from stello_graph.model.knowledge import Skill, SkillNote
from stello_graph.model.knowledge_checks import check_name
from stello_graph.model.session import Session
from stello_graph.ports import KnowledgeStore

__all__ = ["SkillBook"]

S = TypeVar("S", bound=SkillNote)


class SkillBook:
    """The skills of this server's folders, and how they go together with what a Space stores.

    Folder skills stand in every Space. A stored one of the same name wins.
    """

    def __init__(self, of_folders: Iterable[Skill] = ()) -> None:
        self._of_folders = {skill.name: skill for skill in of_folders}

    def allowed(self, session: Session | None, stored: Iterable[S]) -> tuple[S | Skill, ...]:
        """The skills that `session` may use: the stored ones in their order, then those of folders.

        Args:
            session: its whitelist decides: None allows all, an empty one none. No session: all there are.
            stored: what the Space stores, such as `conversation.skills`.
        """
        merged: dict[str, S | Skill] = {skill.name: skill for skill in stored}
        merged |= {name: skill for name, skill in self._of_folders.items() if name not in merged}
        return tuple(skill for skill in merged.values() if _may_use(session, skill.name))

    async def find(self, store: KnowledgeStore, session: Session | None, name: str) -> Skill:
        """A skill that `session` may use, with its content. One query at most.

        Raises:
            NotFound: there is none of that name, or the session may not use it.
            InvalidInput: no skill can have that name.
        """
        name = check_name(name)
        if _may_use(session, name):
            found = await store.skill(name) or self._of_folders.get(name)
            if found is not None:
                return found
        raise NotFound.of("skill", name)


def _may_use(session: Session | None, name: str) -> bool:
    return session is None or session.skills is None or name in session.skills
