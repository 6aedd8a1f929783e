"""The own format as others may write it: lines, and a Space to bring them into."""

import io
import json
from typing import Any

from stello_graph.interchange.detect import Format
from stello_graph.interchange.importer import import_intake
from stello_graph.interchange.intake import Intake
from stello_graph.interchange.jsonl import ExportReport, export_lines
from stello_graph.interchange.report import ImportReport
from stello_graph.ports import SpaceStore

HEADER = {"format": "stello-graph", "version": 1}

Line = dict[str, Any]


def dumped(*lines: Line | bytes) -> bytes:
    return b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)


def session(id: str, **fields: Any) -> Line:
    return {"kind": "session", "id": id, "label": id.upper(), **fields}


def message(session: str, seq: int, **fields: Any) -> Line:
    given = {"id": f"{session}-{seq}", "role": "USER", "content": f"{session} {seq}"}
    return {"kind": "message", "session": session, "seq": seq, **given, **fields}


async def exported(space: SpaceStore) -> bytes:
    return b"".join([line async for line in export_lines(space, ExportReport())])


async def imported(
    space: SpaceStore, file: bytes, format: Format | None = None, **given: Any
) -> ImportReport:
    intake = Intake.of_stream(io.BytesIO(file), format, max_bytes=2**30)
    return await import_intake(space, intake, **given)


def remarks(report: ImportReport) -> dict[str, str]:
    told = report.to_dict()
    return {one["where"]: one["why"] for kind in ("skipped", "repaired") for one in told[kind]["details"]}


async def texts(space: SpaceStore, *ids: str) -> dict[str, list[str]]:
    page = await space.oldest_messages(ids, after=0, before=100, first=100, roles=None)
    return {id: [one.content for one in page[id]] for id in ids}


def shared(session: str, seq: int, id: str, home: str) -> Line:
    return {"kind": "message", "session": session, "seq": seq, "id": id, "sharedWith": home}
