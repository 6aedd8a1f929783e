"""What an intake holds, some conversations at a time: as many as are stored together."""

from collections.abc import Iterator
from typing import Final

from stello_graph.interchange.intake import Found, Intake
from stello_graph.interchange.jsonl.pace import MOST_BYTES, MOST_MESSAGES
from stello_graph.interchange.plan import ImportedConversation

__all__ = ["ids_of", "lots"]

_MOST: Final = 500


def lots(intake: Intake, max_object: int) -> Iterator[list[Found]]:
    """All that `intake.read` finds, in order. A lot has so many things, so many messages, and so many bytes
    of the file, or one conversation that is larger. None has two of one id: what is stored of the first
    decides what is to be stored of the second.
    """
    lot: list[Found] = []
    ids: set[str] = set()
    messages, began = 0, intake.at
    for found in intake.read(max_object):
        id, size = _measured(found)
        is_full = len(lot) >= _MOST or messages + size > MOST_MESSAGES or intake.at - began > MOST_BYTES
        if lot and (is_full or id in ids):
            yield lot
            lot, ids, messages, began = [], set(), 0, intake.at
        lot.append(found)
        messages += size
        if id is not None:
            ids.add(id)
    if lot:
        yield lot


def ids_of(lot: list[Found]) -> set[str]:
    """The ids of its conversations."""
    return {found.id for found in lot if isinstance(found, ImportedConversation)}


def _measured(found: Found) -> tuple[str | None, int]:
    """The id of a conversation, and how many messages it has."""
    if not isinstance(found, ImportedConversation):
        return None, 0
    return found.id, sum(len(step.messages) for step in found.tree.steps)
