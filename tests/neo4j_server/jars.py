import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs

from tests.neo4j_server.errors import NotAvailable
from tests.neo4j_server.releases import ROOT, Release

if TYPE_CHECKING:
    from jgo.maven import Artifact

Say = Callable[[str], None]
ATTEMPTS: Final = 4


@dataclass(frozen=True)
class Jar:
    coordinates: str
    sha256: str

    @property
    def file_name(self) -> str:
        _, artifact, *rest = self.coordinates.split(":")
        return "-".join([artifact, *rest]) + ".jar"


def read_lock(text: str) -> list[Jar]:
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return [Jar(coordinates, digest.removeprefix("sha256:")) for coordinates, digest in lines]


def class_path(release: Release, say: Say) -> str:
    """The jars of a release, fetched once into the user's cache folder."""
    jars = read_lock(release.lock.read_text())
    folder = cache_folder() / f"neo4j-{release.version}"
    missing = [jar for jar in jars if not (folder / jar.file_name).exists()]
    if missing:
        say(f"Fetching {len(missing)} jars of Neo4j {release.version}, once, into {folder}")
        try:
            _fetch(missing, folder)
        except (OSError, RuntimeError) as failure:
            raise NotAvailable(
                f"The jars of Neo4j {release.version} cannot be fetched: set {release.variable} to the "
                f"bolt URL of a running Neo4j, start Docker, or mend the network ({failure})."
            ) from failure
    return os.pathsep.join(str(folder / jar.file_name) for jar in jars)


def cache_folder() -> Path:
    for folder in (platformdirs.user_cache_path("stello-graph"), ROOT / ".cache"):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise NotAvailable(
        f"Neither your cache folder nor {ROOT / '.cache'} can be written: make one of them writable."
    )


def _fetch(jars: Iterable[Jar], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=folder, prefix="incoming-") as incoming,
        ThreadPoolExecutor(max_workers=16) as pool,
    ):
        futures = [pool.submit(_fetch_one, jar, Path(incoming), folder) for jar in jars]
        try:
            for future in as_completed(futures):
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _fetch_one(jar: Jar, incoming: Path, folder: Path) -> None:
    # Imported late: the import takes 0.8 s, and most runs fetch nothing.
    from jgo.maven import MavenContext

    context = MavenContext(repo_cache=incoming, local_repos=[], timeout=60)
    group, artifact, version, *classifier = jar.coordinates.split(":")
    component = context.project(group, artifact).at_version(version)
    path = download(component.artifact(classifier=classifier[0] if classifier else ""))
    if hashlib.sha256(path.read_bytes()).hexdigest() != jar.sha256:
        raise RuntimeError(f"{jar.coordinates} does not match its checksum in requirements/")
    path.replace(folder / jar.file_name)


def download(artifact: "Artifact") -> Path:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return artifact.resolve()
        except (OSError, RuntimeError):
            # A broken download leaves a part that would pass for the file.
            if artifact.cached_path is not None:
                artifact.cached_path.unlink(missing_ok=True)
            if attempt == ATTEMPTS:
                raise
            time.sleep(attempt)
    raise AssertionError
