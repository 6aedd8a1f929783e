"""Writes what an intake holds into a Space."""

from stello_graph.interchange.background import in_thread
from stello_graph.interchange.intake import Intake
from stello_graph.interchange.jsonstream import MAX_OBJECT
from stello_graph.interchange.plan import ImportedConversation
from stello_graph.interchange.report import ImportReport
from stello_graph.interchange.writing import write_conversation
from stello_graph.ports import SpaceStore

__all__ = ["import_intake"]


async def import_intake(
    store: SpaceStore, intake: Intake, *, report: ImportReport | None = None, max_object: int = MAX_OBJECT
) -> ImportReport:
    """Imports all that an intake holds, one conversation at a time.

    Args:
        report: what counts while it runs, so that others can look; None makes one.
        max_object: how many bytes of JSON a conversation may have; a larger one is skipped.

    Raises:
        NotFound: the Space is gone.
    """
    report = ImportReport() if report is None else report
    items = intake.read(max_object)
    while (item := await in_thread(next, items, None, stop=intake.end)) is not None:
        report.add(item)
        if isinstance(item, ImportedConversation):
            await write_conversation(store, item, report)
    return report
