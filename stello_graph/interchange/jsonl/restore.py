"""Brings a file of the own format into a Space.

It is read twice: once to know what it tells of and where, then session by session, parents first. Ids of
sessions and their links are all that is kept in memory of the whole file.
"""

import time
from collections.abc import Callable
from typing import IO

from stello_graph.interchange.background import Ahead, in_thread
from stello_graph.interchange.jsonl.beside import restore_beside
from stello_graph.interchange.jsonl.links import Links
from stello_graph.interchange.jsonl.loading import Loader
from stello_graph.interchange.jsonl.lookups import above, existing, named_outside
from stello_graph.interchange.jsonl.lots import Lots, lots
from stello_graph.interchange.jsonl.order import placed
from stello_graph.interchange.jsonl.reading import Terms
from stello_graph.interchange.jsonl.renewal import Ids, Renewed
from stello_graph.interchange.jsonl.scan import Scan
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.ports import SpaceStore

__all__ = ["restore"]


async def restore(
    store: SpaceStore,
    stream: IO[bytes],
    report: ImportReport,
    *,
    max_line: int,
    max_text: int | None = None,
    new_ids: bool = False,
    as_admin: bool = True,
    on_read: Callable[[int], object] = lambda at: None,
) -> None:
    """Stores what the Space does not have yet; nothing that it has is changed.

    Args:
        stream: seekable.
        max_line: how many bytes a line may have; a longer one is skipped.
        max_text: how many a prompt or a record may have; None sets no limit but the line's.
        new_ids: gives everything a new id, so that all of it is new to the Space.
        as_admin: whether who imports may also change settings, skills and fork profiles.
        on_read: told how far the file is read, in bytes; what is read a second time is not told.

    Raises:
        InvalidInput: the file does not begin with a header that is known; nothing was written.
        NotFound: the Space is gone.
    """
    terms = Terms(time.time_ns() // 1_000, max_line, max_line if max_text is None else max_text)
    await store.space()
    scan = Scan(stream, terms)
    steps = scan.steps()
    while await in_thread(next, steps, False):
        report.add_all(scan.remarks)
        scan.remarks.clear()
        on_read(scan.at)
    sessions = scan.sessions
    report.conversations += len(sessions)
    await restore_beside(store, stream, scan.beside, report, terms=terms, as_admin=as_admin)

    ids = Renewed(sessions.values()) if new_ids else Ids()
    found = await existing(store, map(ids.session, sessions))
    present = {id for id in sessions if ids.session(id) in found}
    outside = set() if new_ids else await existing(store, named_outside(sessions))
    order, repaired = await in_thread(placed, sessions, outside)
    report.add_all(repaired)
    lines = await above(store, sessions, order, present | outside)
    links = await in_thread(Links, sessions, order, outside, lines, ids)
    report.add_all(links.skipped)
    links.stored(present)
    for _ in present:
        report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=False)
    loader = Loader(stream, terms, sessions)
    storing = Lots(store, loader, ids, links, report, terms.now)
    missing = [one for one in order if one.entry.id not in present]
    async with Ahead(lots(loader, missing)) as coming:
        while (lot := await coming.take()) is not None:
            await storing.store(lot, coming.begin)
