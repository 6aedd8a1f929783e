"""Whether an index shows all the messages that a session counts: their places have no gaps.

The place of a message is the last of its values.
"""

from collections.abc import Sequence

from stello_graph.store.engine import Listed, Row

__all__ = ["shows_around", "shows_newest", "shows_transcript"]


def shows_transcript(row: Row, after: int, last: int | None = None) -> bool:
    """Whether a session's `transcript` has all messages after a place, to the newest or `last`."""
    if _is_torn(row):
        return True
    return _shows(row["transcript"], max(after + 1, _oldest(row)), _newest(row) if last is None else last)


def shows_newest(row: Row) -> bool:
    """Whether a session's `transcript` goes to the newest message, where its digest does not."""
    if _is_torn(row):
        return True
    found = row["transcript"]
    first = found[0][-1] if found else max(_oldest(row), (row.get("memoryThroughSeq") or 0) + 1)
    return _shows(found, first, _newest(row))


def shows_around(row: Row, tail: Sequence[Listed], seq: int | None) -> bool:
    """Whether a session's message at a place and the one after it are in `tail`, as far as it has them."""
    if _is_torn(row):
        return True
    cut = _newest(row) if seq is None else seq
    return _shows(tail, max(cut, _oldest(row)), min(cut + 1, _newest(row)))


def _shows(messages: Sequence[Listed], first: int, last: int) -> bool:
    """Whether all places from `first` to `last` are there; more may be, at both ends, without a gap."""
    if first > last:
        return True
    if not messages:
        return False
    start, end = messages[0][-1], messages[-1][-1]
    return bool(start <= first and end >= last and end - start == len(messages) - 1)


def _is_torn(row: Row) -> bool:
    """Whether the session was deleted while it was read: see `rows.whole`."""
    return row.get("nextSeq") is None or row.get("messageCount") is None


def _oldest(row: Row) -> int:
    return int(row["nextSeq"] - row["messageCount"])


def _newest(row: Row) -> int:
    return int(row["nextSeq"] - 1)
