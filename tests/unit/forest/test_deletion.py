"""What is left of deleted Spaces is swept part by part, without a pause between the parts."""

from typing import Any, cast

import pytest

from stello_graph.errors import StoreUnavailable
from stello_graph.forest.deletion import Sweeper
from stello_graph.ports import Store


class Rubbish:
    """A store with deleted Spaces, each of so many parts; of 0 parts none may be swept yet."""

    def __init__(self, **parts: int) -> None:
        self.parts = parts
        self.looks = 0

    async def deleted_spaces(self, *, first: int) -> list[str]:
        self.looks += 1
        assert self.looks < 100, "it looks for ever"
        return sorted(self.parts)[:first]

    async def sweep_space(self, space_id: str, *, delay: float) -> bool:
        left = self.parts.get(space_id)
        if left == 0:
            return False
        if left == 1:
            del self.parts[space_id]
        elif left is not None:
            self.parts[space_id] -= 1
        return True


def sweeper(rubbish: Rubbish) -> Sweeper:
    return Sweeper(cast(Store, rubbish), delay=8, interval=3600)


async def test_a_big_space_goes_at_once() -> None:
    """All its parts in one look, and those of others meanwhile; one that is too young waits."""
    rubbish = Rubbish(big=30, small=1, young=0)

    await sweeper(rubbish).sweep()

    assert rubbish.parts == {"young": 0}


async def test_nothing_to_sweep() -> None:
    """One look."""
    rubbish = Rubbish()

    await sweeper(rubbish).sweep()

    assert rubbish.looks == 1


async def test_a_space_that_cannot_be_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its trouble is told, once a look."""
    rubbish = Rubbish(big=3)

    async def away(*_: Any, **__: Any) -> bool:
        raise StoreUnavailable("away")

    monkeypatch.setattr(rubbish, "sweep_space", away)
    with pytest.raises(StoreUnavailable):
        await sweeper(rubbish).sweep()
    assert rubbish.looks == 1


async def test_one_of_very_many() -> None:
    """It is waited for until nothing is left of it, also where many others are to be swept before."""
    rubbish = Rubbish(**{f"a{n}": 0 for n in range(150)}, last=3)

    await sweeper(rubbish).finish("last")

    assert "last" not in rubbish.parts
    assert len(rubbish.parts) == 150
