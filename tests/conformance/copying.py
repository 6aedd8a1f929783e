"""Out of a Space and into another in the own format."""

import io
import json
from typing import Any

from stello_graph.ids import new_id
from stello_graph.interchange.importer import import_intake
from stello_graph.interchange.intake import Intake
from stello_graph.interchange.jsonl import ExportReport, export_lines
from stello_graph.interchange.report import ImportReport
from stello_graph.model.space import default_name
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore

Line = dict[str, Any]


async def exported(space: SpaceStore, root: str | None = None, report: ExportReport | None = None) -> bytes:
    report = ExportReport() if report is None else report
    return b"".join([line async for line in export_lines(space, report, root)])


async def imported(space: SpaceStore, file: bytes, **given: Any) -> ImportReport:
    intake = Intake.of_stream(io.BytesIO(file), max_bytes=2**30)
    return await import_intake(space, intake, **given)


def lines(file: bytes, *kinds: str) -> list[Line]:
    found = [json.loads(line) for line in file.splitlines()]
    return [line for line in found if not kinds or line.get("kind") in kinds]


def remarks(report: ImportReport) -> tuple[int, int]:
    told = report.to_dict()
    return told["skipped"]["count"], told["repaired"]["count"]


async def empty(store: GraphStore) -> SpaceStore:
    id = f"test-{new_id()}"
    await store.ensure_space(id, default_name(id))
    return store.in_space(id)
