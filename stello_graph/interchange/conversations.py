"""What the readers of all exports that are arrays of conversations share."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson

from stello_graph.interchange.jsonstream import Broken, Source, objects
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.interchange.text import label_of

__all__ = [
    "CHARACTERS",
    "FAULT",
    "MAX_MESSAGE",
    "NO_MESSAGE",
    "NO_RESULT",
    "Found",
    "Malformed",
    "begin_of",
    "conversations",
]

logger = logging.getLogger(__name__)

MAX_MESSAGE = 16 << 20

NO_RESULT = "The export holds no result of this call."
NO_MESSAGE = "it has no message that can be imported"
CHARACTERS = "characters that no store takes were replaced by U+FFFD"
FAULT = "the reader failed on it; this is a fault of stello-graph, and its log has more"

Found = ImportedConversation | Skipped


class Malformed(Exception):
    """A message, or all of a conversation, cannot be imported; the text says why."""


def conversations(
    stream: Source,
    max_object: int,
    product: str,
    title_of: Callable[[dict[str, Any]], Any],
    read: Callable[[dict[str, Any], str], Iterable[Found]],
    *,
    deep: bool = False,
) -> Iterator[Found]:
    """Reads an array of conversations, or one conversation. No conversation spoils another one.

    It holds one conversation at a time in memory.

    Args:
        max_object, deep: see `jsonstream.objects`.
        read: what is found in an entry, which stands at the given place, or Malformed.
    """
    for number, entry in enumerate(objects(stream, max_object, deep=deep), 1):
        if isinstance(entry, Broken):
            yield Skipped(where=f"entry {number}", why=entry.why)
            continue
        title = label_of(title_of(entry))
        where = f'conversation {number} "{title[:60]}"' if title else f"conversation {number}"
        try:
            found = list(read(entry, where))
        except Malformed as error:
            found = [Skipped(where=where, why=str(error))]
        except Exception:
            logger.exception("reading conversation %d of a %s export failed", number, product)
            found = [Skipped(where=where, why=FAULT)]
        yield from found


def begin_of(*said: str | int | None) -> str:
    """An id for a conversation that has none, made of how it begins, which stays when it grows."""
    return "begin " + hashlib.sha256(orjson.dumps(said)).hexdigest()
