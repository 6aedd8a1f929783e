"""API keys: who holds the secret of one may do what its scope says, in its Space."""

from stello_graph.model.values import KeyScope, Value, Viewer

__all__ = ["ApiKey", "KeyDraft", "NewApiKey"]


class ApiKey(Value):
    """A key without its secret, which nothing keeps.

    Attributes:
        space_id: None for a key of an operator, and for no other.
        prefix: how the secret begins, to tell keys apart.
        created_at: UTC microseconds, as all times.
        last_used_at: about a minute exact.
    """

    id: str
    space_id: str | None = None
    name: str
    prefix: str
    scope: KeyScope
    created_at: int
    last_used_at: int | None = None
    revoked_at: int | None = None

    @property
    def viewer(self) -> Viewer:
        """Who asks with this key."""
        return Viewer(space_id=self.space_id, key_name=self.name, scope=self.scope)


class KeyDraft(Value):
    """A key to store. `hash` is what is kept of the secret."""

    id: str
    space_id: str | None
    name: str
    prefix: str
    hash: str
    scope: KeyScope


class NewApiKey(Value):
    """A key that was made just now, with its secret: the only time that anybody sees it."""

    key: ApiKey
    secret: str
