"""Run a Neo4j for development until it is interrupted (called by scripts/neo4j)."""

import argparse
import shutil
import signal
import sys

from tests.neo4j_server import jars, java
from tests.neo4j_server.errors import NotAvailable, StartFailed
from tests.neo4j_server.local import LocalServer
from tests.neo4j_server.releases import CALENDAR, LTS, ROOT


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/neo4j", description="Run a Neo4j until Ctrl-C.")
    parser.add_argument("--calendar", action="store_true", help=f"{CALENDAR.version}, not {LTS.version}")
    parser.add_argument("--port", type=int, default=7687, help="of Bolt, on 127.0.0.1 (default: %(default)s)")
    parser.add_argument("--heap", default="1g", help="of the Java process (default: %(default)s)")
    parser.add_argument("--fresh", action="store_true", help="begin without the data of earlier runs")
    arguments = parser.parse_args()
    release = CALENDAR if arguments.calendar else LTS
    home = ROOT / ".cache" / f"neo4j-{release.version}-{arguments.port}"
    if arguments.fresh:
        shutil.rmtree(home, ignore_errors=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        class_path = jars.class_path(release, lambda text: print(text, flush=True))
        server = LocalServer(
            release,
            java.find(release.oldest_java),
            class_path,
            home,
            port=arguments.port,
            heap=arguments.heap,
            options=(),
        )
        return run(server)
    except (NotAvailable, StartFailed) as failure:
        print(failure, file=sys.stderr)
        return 1


def run(server: LocalServer) -> int:
    try:
        server.start()
        print(f"Neo4j {server.release.version} answers at {server.url}, without a password.", flush=True)
        print(f"Data and logs: {server.home}. Ctrl-C stops it.", flush=True)
        if code := server.wait():
            raise StartFailed(f"Neo4j has stopped (exit status {code}), its log: {server.log}")
    except KeyboardInterrupt:
        print("Stopping Neo4j.", flush=True)
    finally:
        server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
