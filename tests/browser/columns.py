"""Forests of any size as `starMap.columns`, for pages that are to show more than a test could create."""

import random
from typing import Any, Final

__all__ = ["columns_of"]

_TOPICS: Final = (
    *("Trip to Lisbon", "Quarterly plan", "Kitchen", "Tax return", "Reading list", "Onboarding", "Hotel"),
    *(
        "Garden in spring",
        "接口设计",
        "数据迁移",
        "季度总结",
        "Incident review",
        "Interview",
        "翻译",
        "Budget",
    ),
    *(
        "Budget",
        "Ideas",
        "Weekly",
        "Release notes",
        "Flights",
        "Architecture",
        "旅行计划",
        "Prototype",
        "Survey",
    ),
)
_ACTIVE_AT: Final = 1_790_000_000_000


def columns_of(sessions: int, seed: int = 7) -> dict[str, Any]:
    """Trees of very different sizes: some huge, many small, some chains; the same for the same seed."""
    chance = random.Random(seed)
    parents = _parents(sessions, chance)
    depths: list[int] = []
    for above in parents:
        depths.append(0 if above < 0 else depths[above] + 1)
    order = sorted(range(sessions), key=lambda at: depths[at])
    place = {old: new for new, old in enumerate(order)}
    parent_of = [place[parents[old]] if parents[old] >= 0 else -1 for old in order]
    counts = [0] * (sessions + 1)
    index = []
    for above in parent_of:
        index.append(counts[above])
        counts[above] += 1
    return {
        "id": [f"s{at}" for at in range(sessions)],
        "parent": parent_of,
        "source": [_source(at, parent_of, chance) for at in range(sessions)],
        "label": [f"{chance.choice(_TOPICS)} {at}" for at in range(sessions)],
        "status": [int(chance.random() < 0.12) for _ in range(sessions)],
        "role": [int(above < 0 and chance.random() < 0.3) for above in parent_of],
        "depth": [depths[old] for old in order],
        "index": index,
        "childCount": counts[:sessions],
        "turnCount": [int(chance.paretovariate(1.1)) - 1 for _ in range(sessions)],
        "lastActiveAt": [_ACTIVE_AT - chance.randrange(10**10) for _ in range(sessions)],
        "refs": [[chance.randrange(sessions), chance.randrange(sessions)] for _ in range(sessions // 100)],
    }


def _source(at: int, parent: list[int], chance: random.Random) -> int:
    """The parent, for some the parent's parent."""
    above = parent[at]
    return parent[above] if above >= 0 and parent[above] >= 0 and chance.random() < 0.04 else above


def _parents(sessions: int, chance: random.Random) -> list[int]:
    """Parents before children: a tree ends where its size, drawn with a long tail, is reached."""
    parents: list[int] = []
    while len(parents) < sessions:
        root = len(parents)
        size = min(sessions - root, 1 + int(chance.paretovariate(0.75) * 4), max(3, sessions // 4))
        parents.append(-1)
        wide = chance.random()
        for step in range(1, size):
            newest = root + step - 1
            parents.append(
                newest if chance.random() < 0.25 * wide else root + int(step * chance.random() ** (1 + wide))
            )
    return parents
