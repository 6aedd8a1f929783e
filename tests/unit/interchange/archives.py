"""Building archives, whole and damaged ones, and looking at what was read of them."""

import io
import json
import struct
from collections.abc import Mapping
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from stello_graph.interchange.detect import Format
from stello_graph.interchange.intake import Found, Intake
from stello_graph.interchange.jsonstream import MAX_OBJECT
from stello_graph.interchange.plan import ImportedConversation, NotLookedAt, Skipped
from tests.unit.interchange.exports import chain, reply, user

MANY = 1 << 30


def export(*ids: str) -> bytes:
    """A file of ChatGPT's with a conversation of two messages for each id."""
    return json.dumps([chain(user(f"{id}1"), reply(f"{id}2"), id=id) for id in ids]).encode()


def zipped(files: Mapping[str, bytes], method: int = ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return stream.getvalue()


def patched(archive: bytes, name: str, *, local: int, central: int, form: str, value: int) -> bytes:
    """The archive with a field of a member's two headers changed."""
    data = bytearray(archive)
    for signature, place, fixed in ((b"PK\x03\x04", local, 30), (b"PK\x01\x02", central, 46)):
        at = -1
        while (at := data.find(signature, at + 1)) >= 0:
            if data[at + fixed : at + fixed + len(name)] == name.encode():
                struct.pack_into(form, data, at + place, value)
    return bytes(data)


def encrypted(archive: bytes, name: str) -> bytes:
    return patched(archive, name, local=6, central=8, form="<H", value=1)


def of_size(archive: bytes, name: str, size: int) -> bytes:
    """The archive with another unpacked size of a member than it has."""
    return patched(archive, name, local=22, central=24, form="<I", value=size)


def with_checksum(archive: bytes, name: str, checksum: int) -> bytes:
    return patched(archive, name, local=14, central=16, form="<I", value=checksum)


def intake_of(file: bytes, format: Format | None = None, max_bytes: int = MANY) -> Intake:
    return Intake.of_stream(io.BytesIO(file), format, max_bytes=max_bytes)


def read(file: bytes, format: Format | None = None) -> list[Found]:
    return list(intake_of(file, format).read(MAX_OBJECT))


def read_paths(*paths: Path, max_bytes: int = MANY) -> list[Found]:
    with Intake.of_paths(list(paths), max_bytes=max_bytes) as intake:
        return list(intake.read(MAX_OBJECT))


def ids(found: list[Found]) -> list[str]:
    return [each.id for each in found if isinstance(each, ImportedConversation)]


def not_looked_at(found: list[Found]) -> list[str]:
    return [each.where for each in found if isinstance(each, NotLookedAt)]


def left_out(found: list[Found]) -> dict[str, str]:
    return {each.where: each.why for each in found if isinstance(each, Skipped)}
