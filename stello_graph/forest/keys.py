"""Making keys, and telling who holds one."""

import asyncio
import hashlib
import hmac
import logging
import re
import secrets
import time

from stello_graph.errors import Forbidden, StelloError, Unauthenticated
from stello_graph.ids import DEFAULT_SPACE, new_id
from stello_graph.model.checks import check_names
from stello_graph.model.keys import ApiKey, KeyDraft, NewApiKey
from stello_graph.model.values import KeyScope, Viewer
from stello_graph.ports import KeyStore

__all__ = ["MOST_KEYS", "MOST_LISTED", "Keyring", "new_key"]

logger = logging.getLogger(__name__)

MOST_KEYS = 200
MOST_LISTED = 1_000

_BYTES = 32
_SHOWN = 13
_SECRET = re.compile(r"stello_[A-Za-z0-9_-]{43}")
# Seconds between two statements that look keys up: what a flood of wrong ones costs at most.
_PAUSE = 0.05
_TOUCHED = 60.0
_REMEMBERED = 4_096


async def new_key(store: KeyStore, space_id: str | None, name: str, scope: KeyScope) -> NewApiKey:
    """Makes a key of a Space, or, without one, of an operator.

    Raises:
        Forbidden: an operator's key that would belong to a Space, or another that belongs to none.
        InvalidInput: the name is empty, too long, or holds control characters.
        NotFound: the Space. LimitExceeded: it has 200 keys that are not revoked.
    """
    if (scope is KeyScope.OPERATOR) != (space_id is None):
        raise Forbidden("a key with the scope OPERATOR belongs to no Space, every other one to a Space")
    (checked,) = check_names([name], "names of keys")
    secret = f"stello_{secrets.token_urlsafe(_BYTES)}"
    draft = KeyDraft(
        id=new_id(),
        space_id=space_id,
        name=checked,
        prefix=secret[:_SHOWN],
        hash=_hash(secret),
        scope=scope,
    )
    return NewApiKey(key=await store.create_key(draft, limit=MOST_KEYS), secret=secret)


class Keyring:
    """Who holds which key, as the store says, at most `seconds` old.

    A secret has 256 random bits, so a plain hash of it is as good as any slow one. Keys are looked up
    together, one statement at a time and with a pause between two, so that wrong ones cost no more.
    """

    def __init__(self, store: KeyStore, bootstrap_key: str | None, seconds: float) -> None:
        self.seconds = seconds
        self._store = store
        self._bootstrap = None if bootstrap_key is None else _hash(bootstrap_key)
        self._in_use = bootstrap_key is not None
        self._asked_in_use = float("-inf")
        self._asking = asyncio.Lock()
        self._forgotten = 0
        self._known: dict[str, tuple[ApiKey, float]] = {}
        self._touched: dict[str, float] = {}
        self._wanted: dict[str, asyncio.Future[ApiKey | None]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._touching: set[asyncio.Task[None]] = set()

    async def in_use(self) -> bool:
        """Whether there ever was a key; once true it stays so.

        Raises:
            StoreUnavailable: it is not known any more.
        """
        if self._in_use or self._is_fresh(self._asked_in_use):
            return self._in_use
        begun = time.monotonic()
        async with self._asking:
            if self._asked_in_use < begun and not self._is_fresh(self._asked_in_use):
                asked, forgotten = time.monotonic(), self._forgotten
                self._in_use = await self._store.keys_in_use() or self._in_use
                if forgotten == self._forgotten:
                    self._asked_in_use = asked
        return self._in_use

    @property
    def is_in_use(self) -> bool:
        """What `in_use` answered last."""
        return self._in_use

    async def viewer(self, secret: str | None) -> Viewer:
        """Who has this secret. Raises Unauthenticated, StoreUnavailable."""
        digest = _hash(secret or "")
        if self._bootstrap is not None and hmac.compare_digest(digest, self._bootstrap):
            return Viewer(space_id=DEFAULT_SPACE, key_name="bootstrap", scope=KeyScope.ADMIN)
        key = await self._key(digest) if secret and _SECRET.fullmatch(secret) else None
        if key is None:
            raise Unauthenticated("a valid key is needed: Authorization: Bearer …")
        self._touch(key)
        return key.viewer

    def forget(self) -> None:
        """What is known, or being looked up, is looked up anew; where there is a key now, keys are in use."""
        self._forgotten += 1
        self._known.clear()
        self._asked_in_use = float("-inf")

    async def aclose(self) -> None:
        """Waits for what is being written."""
        if self._looking is not None:
            await asyncio.gather(self._looking, return_exceptions=True)
        await asyncio.gather(*self._touching, return_exceptions=True)

    def _is_fresh(self, asked: float) -> bool:
        return time.monotonic() - asked < self.seconds

    async def _key(self, digest: str) -> ApiKey | None:
        known = self._known.get(digest)
        if known is not None and self._is_fresh(known[1]):
            return known[0]
        wanted = self._wanted.get(digest)
        if wanted is None:
            wanted = self._wanted[digest] = asyncio.get_running_loop().create_future()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return await asyncio.shield(wanted)

    async def _look(self) -> None:
        """Looks up what is wanted until nothing is."""
        while self._wanted:
            wanted, self._wanted = self._wanted, {}
            asked, forgotten = time.monotonic(), self._forgotten
            try:
                found = await self._store.find_keys(list(wanted))
            except Exception as error:
                for future in wanted.values():
                    future.set_exception(error)
                    future.exception()
            else:
                if forgotten == self._forgotten:
                    self._remember(found, wanted, asked)
                for digest, future in wanted.items():
                    future.set_result(found.get(digest))
            await asyncio.sleep(_PAUSE)

    def _remember(
        self, found: dict[str, ApiKey], wanted: dict[str, asyncio.Future[ApiKey | None]], asked: float
    ) -> None:
        for digest in wanted:
            self._known.pop(digest, None)
        self._known |= {digest: (key, asked) for digest, key in found.items()}
        for digest in list(self._known)[:-_REMEMBERED]:
            del self._known[digest]

    def _touch(self, key: ApiKey) -> None:
        """Has the time of use written about once a minute; no request waits for it."""
        now = time.monotonic()
        if now - self._touched.get(key.id, float("-inf")) < _TOUCHED:
            return
        self._touched.pop(key.id, None)
        self._touched[key.id] = now
        for id in list(self._touched)[:-_REMEMBERED]:
            del self._touched[id]
        task = asyncio.create_task(self._write_use(key))
        self._touching.add(task)
        task.add_done_callback(self._touching.discard)

    async def _write_use(self, key: ApiKey) -> None:
        try:
            await self._store.touch_key(key, interval=_TOUCHED)
        except StelloError as error:
            logger.warning("the last use of key %s could not be written: %s", key.id, error.message)
        except Exception:
            logger.exception("the last use of key %s could not be written", key.id)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
