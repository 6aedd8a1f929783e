"""Light sessions in any number: a few messages each, in trees that are wide at the top with some deep chains.

The same number gives the same forest, but for its times, which end now.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Final

from stello_graph.demo.contents import Topics, topics
from stello_graph.model.message import Draft, MessageRole
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import PlacedDraft

__all__ = ["light_forest"]

LOT: Final = 400
SEED: Final = 1986

_A_TREE: Final = 120
_CHAIN: Final = 0.004
_FORKED: Final = 0.7
_STRANGE: Final = 0.06
_ARCHIVED: Final = 0.06
_CHINESE: Final = 0.25
_DAY: Final = 86_400_000_000
_DAYS: Final = 90


def light_forest(count: int, *, now: int) -> Iterator[tuple[PlacedDraft, ...]]:
    """`count` sessions in lots: the parents of a lot are all in lots before it.

    Args:
        now: UTC microseconds.
    """
    dice = random.Random(f"{SEED}:{count}")
    languages = topics()
    parents = _parents(count, dice)
    above: list[int] = []
    for level in _levels(parents):
        for begin in range(0, len(level), LOT):
            lot = level[begin : begin + LOT]
            yield tuple(_session(place, parents[place], above, languages, now) for place in lot)
        above = level


def _parents(count: int, dice: random.Random) -> list[int]:
    """By session the number of its parent, which is smaller, or -1: most hang under early ones."""
    parents: list[int] = []
    chain = 0
    for place in range(count):
        if chain:
            chain -= 1
            parents.append(place - 1)
        elif place % _A_TREE == 0:
            parents.append(-1)
        else:
            parents.append(int(place * dice.random() ** 2))
            if dice.random() < _CHAIN:
                chain = dice.randrange(8, 40)
    return parents


def _levels(parents: Sequence[int]) -> list[list[int]]:
    """The sessions by their depth."""
    depths: list[int] = []
    levels: list[list[int]] = []
    for place, parent in enumerate(parents):
        depth = 0 if parent < 0 else depths[parent] + 1
        depths.append(depth)
        if depth == len(levels):
            levels.append([])
        levels[depth].append(place)
    return levels


def _session(
    place: int, parent: int, above: Sequence[int], languages: Sequence[Topics], now: int
) -> PlacedDraft:
    """One session; `above` are those of the level before, of which some are a source of another's child."""
    dice = random.Random(f"{SEED}/{place}")
    topic = languages[dice.random() < _CHINESE]
    subject = dice.choice(topic.subjects)
    id = _id(place)
    made = now - int(_DAYS * _DAY * (1 - dice.random() ** 0.5))
    source = dice.choice(above) if above and dice.random() < _STRANGE else parent
    return PlacedDraft(
        id=id,
        parent_id=None if parent < 0 else _id(parent),
        source_id=_id(source) if above and dice.random() < _FORKED else None,
        label=dice.choice(topic.labels).format(subject=subject),
        status=SessionStatus.ARCHIVED if dice.random() < _ARCHIVED else SessionStatus.ACTIVE,
        tags=(dice.choice(topic.tags),),
        messages=tuple(_messages(id, subject, topic, dice)),
        created_at=made,
        last_active_at=made + int((now - made) * dice.random()),
    )


def _messages(id: str, subject: str, topic: Topics, dice: random.Random) -> Iterator[Draft]:
    for turn in range(dice.choice((1, 1, 2, 2, 3))):
        asked = dice.choice(topic.questions).format(subject=subject)
        told = dice.choice(topic.answers).format(subject=subject)
        yield Draft(id=f"{id}:{2 * turn + 1}", role=MessageRole.USER, content=asked)
        yield Draft(id=f"{id}:{2 * turn + 2}", role=MessageRole.ASSISTANT, content=told)


def _id(place: int) -> str:
    return f"light-{place:06}"
