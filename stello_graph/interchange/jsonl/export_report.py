"""What an export has told."""

from collections import Counter
from typing import Self

from stello_graph.interchange.jsonl.lines import Kind

__all__ = ["ExportReport"]


class ExportReport:
    """Counts while an export runs.

    Attributes:
        told: lines by kind; of messages those that tell one in full.
        shared: lines that say of a message only who tells it.
        total: how many sessions there are.
        links_outside: links of a part of the forest that lead out of it and are left out.
        open_turns: turns that were not over, told as interrupted.
    """

    def __init__(self) -> None:
        self.told: Counter[Kind] = Counter()
        self.shared = 0
        self.total = 0
        self.links_outside = 0
        self.open_turns = 0

    def __iadd__(self, other: Self) -> Self:
        """Counts what another one has counted."""
        self.told += other.told
        self.shared += other.shared
        self.total += other.total
        self.links_outside += other.links_outside
        self.open_turns += other.open_turns
        return self

    @property
    def sessions(self) -> int:
        """How many were told."""
        return self.told[Kind.SESSION]

    def sentences(self) -> list[str]:
        """As text for people."""
        counts = {kind: count for kind, count in self.told.items() if count and kind is not Kind.SPACE}
        said = [f"Exported: {', '.join(f'{count} {_name(kind, count)}' for kind, count in counts.items())}"]
        if self.shared:
            said.append(f"Messages are told once; further sessions share them in {self.shared} places")
        if self.links_outside:
            said.append(f"Left out, since they lead to sessions outside: {self.links_outside} links")
        if self.open_turns:
            said.append(f"Still running, told as interrupted: {self.open_turns} turns")
        return said if counts else ["Exported: an empty Space"]


def _name(kind: Kind, count: int) -> str:
    name = {Kind.SHARED_MEMORY: "shared memory", Kind.PROFILE: "fork profile"}.get(kind, str(kind))
    if count == 1:
        return name
    return name[:-1] + "ies" if name.endswith("y") else name + "s"
