"""API keys. One is found by the hash of its secret, all else by key, as everywhere."""

from collections.abc import Sequence

from stello_graph.errors import LimitExceeded, NotFound
from stello_graph.ids import key_of, new_id
from stello_graph.model.keys import ApiKey, KeyDraft
from stello_graph.store.engine import Engine
from stello_graph.store.queries import named

__all__ = ["KeyRepository"]

CREATE = named("keys/create")
FIND = named("keys/find")
LIST = named("keys/list")
REVOKE = named("keys/revoke")
TOUCH = named("keys/touch")
IN_USE = named("keys/in_use")
USE = named("keys/use")


class KeyRepository:
    """See KeyStore."""

    _engine: Engine

    async def create_key(self, draft: KeyDraft, *, limit: int) -> ApiKey:
        """See KeyStore."""
        found = await self._engine.write(
            CREATE,
            space=draft.space_id,
            key=_key(draft.space_id, draft.id),
            id=draft.id,
            op=new_id(),
            prefix=_key(draft.space_id, ""),
            name=draft.name,
            shown=draft.prefix,
            hash=draft.hash,
            scope=draft.scope,
            limit=limit,
        )
        if not found:
            raise NotFound.of("space", draft.space_id or "")
        if found[0]["outcome"] == "FULL":
            raise LimitExceeded(f"there are {limit} keys already that are not revoked")
        return ApiKey.model_validate(found[0])

    async def find_keys(self, hashes: Sequence[str]) -> dict[str, ApiKey]:
        """See KeyStore."""
        found = await self._engine.read(FIND, hashes=list(hashes))
        return {row["hash"]: ApiKey.model_validate(row) for row in found}

    async def keys_of(self, space_id: str | None, *, first: int) -> list[ApiKey]:
        """See KeyStore."""
        start = _key(space_id, "")
        return await self._listed(start, f"{start[:-1]}0", first)

    async def all_keys(self, *, first: int) -> list[ApiKey]:
        """See KeyStore."""
        return await self._listed("", chr(0x10FFFF), first)

    async def revoke_key(self, space_id: str | None, key_id: str) -> ApiKey:
        """See KeyStore."""
        found = await self._engine.write(REVOKE, key=_key(space_id, key_id), op=new_id())
        if not found:
            raise NotFound.of("key", key_id)
        return ApiKey.model_validate(found[0])

    async def touch_key(self, key: ApiKey, *, interval: float) -> None:
        """See KeyStore."""
        await self._engine.write(
            TOUCH, key=_key(key.space_id, key.id), op=new_id(), interval=int(interval * 1_000_000)
        )

    async def keys_in_use(self) -> bool:
        """See KeyStore."""
        return bool((await self._engine.read(IN_USE))[0]["inUse"])

    async def use_keys(self) -> None:
        """See KeyStore."""
        await self._engine.write(USE)

    async def _listed(self, start: str, end: str, first: int) -> list[ApiKey]:
        found = await self._engine.read(LIST, prefix=start, end=end, first=first)
        return [ApiKey.model_validate(row) for row in found]


def _key(space_id: str | None, id: str) -> str:
    """Keys of operators stand under no Space."""
    return key_of(space_id or "", id)
