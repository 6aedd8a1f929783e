"""Fork profiles."""

from stello_graph.errors import LimitExceeded, NotFound
from stello_graph.model.profile import ForkProfile
from stello_graph.store import rows
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository

__all__ = ["ProfilesRepository"]

LIST = named("profiles/list")
PUT = named("profiles/put")
DELETE = named("profiles/delete")


class ProfilesRepository(Repository):
    """See SpaceStore."""

    async def profiles(self) -> list[ForkProfile]:
        """See SpaceStore."""
        return [rows.profile(row) for row in await self._engine.read(LIST, space=self._space_id)]

    async def put_profile(self, profile: ForkProfile, *, limit: int) -> ForkProfile:
        """See SpaceStore."""
        found = await self._engine.write(
            PUT,
            space=self._space_id,
            key=self._key(profile.name),
            id=profile.name,
            op=self._event()["op"],
            **rows.profile_properties(profile),
            limit=limit,
        )
        if not found:
            raise NotFound.of("space", self._space_id)
        if found[0]["outcome"] == "FULL":
            raise LimitExceeded(f"a Space has at most {limit} fork profiles")
        return rows.profile(found[0])

    async def delete_profile(self, name: str) -> bool:
        """See SpaceStore."""
        found = await self._engine.write(
            DELETE, space=self._space_id, key=self._key(name), op=self._event()["op"]
        )
        return bool(found) and found[0]["outcome"] != "NONE"
