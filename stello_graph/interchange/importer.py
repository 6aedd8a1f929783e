"""Writes what an intake holds into a Space."""

from contextlib import ExitStack
from functools import partial

from stello_graph.interchange.background import Ahead, Overlapping, in_thread
from stello_graph.interchange.intake import Intake
from stello_graph.interchange.jsonl import restore
from stello_graph.interchange.jsonstream import MAX_OBJECT
from stello_graph.interchange.lots import ids_of, lots
from stello_graph.interchange.report import ImportReport
from stello_graph.interchange.writing import write_lot
from stello_graph.ports import SpaceStore

__all__ = ["import_intake"]


async def import_intake(
    store: SpaceStore,
    intake: Intake,
    *,
    report: ImportReport | None = None,
    max_object: int = MAX_OBJECT,
    max_text: int | None = None,
    new_ids: bool = False,
    as_admin: bool = True,
) -> ImportReport:
    """Imports all that an intake holds, some conversations at a time, own exports first.

    Args:
        report: what counts while it runs, so that others can look; None makes one.
        max_object: how many bytes of JSON a conversation may have, or a line of an own export; a larger one
            is skipped.
        max_text: how many bytes a prompt or a record of an own export may have; None sets no limit.
        new_ids: gives all that own exports tell of new ids.
        as_admin: whether who imports may also change settings, skills and fork profiles.

    Raises:
        InvalidInput: `new_ids` was asked for what is no own export; nothing was written.
        NotFound: the Space is gone.
    """
    report = ImportReport() if report is None else report
    report.space = store.space_id
    if new_ids:
        intake.check_own()
    for number in range(intake.own_count):
        with ExitStack() as opened:
            name, stream = await in_thread(intake.open_own, number, opened)
            report.within = name
            await restore(
                store,
                stream,
                report,
                max_line=max_object,
                max_text=max_text,
                new_ids=new_ids,
                as_admin=as_admin,
                on_read=intake.read_own,
            )
            report.within = ""
    before: set[str] = set()
    async with Ahead(lots(intake, max_object), intake.end) as coming, Overlapping() as writing:
        while (lot := await coming.take()) is not None:
            coming.begin()
            ids = ids_of(lot)
            if ids & before:
                # What is stored of the first decides what is to be stored of the second.
                await writing.finish()
            await writing.begin(partial(write_lot, store, lot, report))
            before = ids
    return report
