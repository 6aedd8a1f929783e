from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Release:
    version: str
    main_class: str
    oldest_java: int
    variable: str

    @property
    def image(self) -> str:
        return f"neo4j:{self.version}-community"

    @property
    def lock(self) -> Path:
        return ROOT / "requirements" / f"neo4j-{self.version}.txt"


LTS: Final = Release("5.26.30", "org.neo4j.server.CommunityEntryPoint", 17, "STELLO_TEST_NEO4J")
CALENDAR: Final = Release("2026.08.1", "org.neo4j.server.Neo4jCommunity", 21, "STELLO_TEST_NEO4J_CALENDAR")
RELEASES: Final = (LTS, CALENDAR)
