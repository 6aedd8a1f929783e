"""Write the jars of each release, with their checksums, into requirements/ (called by scripts/lock)."""

import hashlib
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from jgo.maven import Artifact, MavenContext
from jgo.parse import Coordinate

from tests.neo4j_server.jars import download
from tests.neo4j_server.releases import RELEASES, Release

HEADER = "# This file was made by scripts/lock: the jars of Neo4j {version} and what they depend on.\n"


def resolve(release: Release, context: MavenContext) -> list[Artifact]:
    coordinates = (f"org.neo4j:neo4j:{release.version}", f"org.neo4j.app:neo4j-server:{release.version}")
    wanted = [
        context.create_dependency(replace(Coordinate.parse(text), scope="compile")) for text in coordinates
    ]
    inputs, transitive = context.resolver.resolve(wanted)
    needed = [dependency for dependency in transitive if dependency.scope in {"compile", "runtime"}]
    return [dependency.artifact for dependency in [*inputs, *needed]]


def line(artifact: Artifact) -> str:
    parts = [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier]
    digest = hashlib.sha256(download(artifact).read_bytes()).hexdigest()
    return f"{':'.join(part for part in parts if part)} sha256:{digest}\n"


def write(release: Release) -> None:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max_workers=16) as pool:
        artifacts = resolve(release, MavenContext(repo_cache=Path(folder), local_repos=[], timeout=60))
        lines = list(pool.map(line, artifacts))
    release.lock.write_text(HEADER.format(version=release.version) + "".join(lines))


if __name__ == "__main__":
    # What a version depends on never changes, and finding it out takes a minute.
    for release in RELEASES:
        if not release.lock.exists():
            write(release)
