import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.neo4j_server.errors import StartFailed
from tests.neo4j_server.java import Java
from tests.neo4j_server.releases import Release
from tests.neo4j_server.server import answers, free_port, listens, wait_until_ready

START_TIMEOUT: Final = 300.0
STOP_TIMEOUT: Final = 60.0
ADMIN: Final = "org.neo4j.cli.AdminTool"
OPENED: Final = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")
# Half the processor time of a start, and what tests run is never hot enough to miss the other compiler.
QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# The statistics of a database that tests have begun to fill change all the time: planning anew every 10 s
# took a fifth of the server's time. The quiet period of Bolt at a stop is 10 s otherwise.
CONFIGURATION: Final = """\
dbms.security.auth_enabled=false
dbms.usage_report.enabled=false
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=128m
dbms.cypher.min_replan_interval=1h
db.tx_log.preallocate=false
db.tx_log.rotation.size=4m
db.tx_log.rotation.retention_policy=keep_none
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
"""


@dataclass
class LocalServer:
    """A Neo4j run from its jars, with its data and logs in a folder of its own."""

    release: Release
    java: Java
    class_path: str
    home: Path
    port: int = field(default_factory=free_port)
    heap: str = "512m"
    options: tuple[str, ...] = QUICK
    user: str | None = None
    password: str | None = None
    _process: subprocess.Popen[bytes] | None = None
    _watchdog: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        return self.home / "output.log"

    def start(self) -> None:
        if self.running():
            return
        if listens("127.0.0.1", self.port):
            raise StartFailed(f"Port {self.port} is in use by something else: end it or take another port.")
        (self.home / "conf").mkdir(parents=True, exist_ok=True)
        (self.home / "conf" / "neo4j.conf").write_text(CONFIGURATION.format(port=self.port))
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                self._command(),
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._process = process
        # Ends the server when this process ends in whatever way: the pipe closes, read returns.
        script = 'read _; kill -9 "$0"'
        self._watchdog = subprocess.Popen(
            ["sh", "-c", script, str(process.pid)],
            stdin=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if not wait_until_ready(lambda: answers(self.url, None, None), self.running, START_TIMEOUT):
            state = "does not answer" if self.running() else "has stopped"
            self.kill()
            raise StartFailed(f"Neo4j {self.release.version} {state}. Its log:\n{self._tail()}")

    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def wait(self) -> int:
        return self._process.wait() if self._process is not None else 0

    def stop(self) -> None:
        self._end(gracefully=True)

    def kill(self) -> None:
        self._end(gracefully=False)

    def admin(self, *args: str) -> None:
        """What `neo4j-admin ARGS` does, while the server is stopped."""
        folders = {"NEO4J_HOME": str(self.home), "NEO4J_CONF": str(self.home / "conf")}
        command = [str(self.java.path), *self.options, *self._opened(), "-cp", self.class_path, ADMIN, *args]
        done = subprocess.run(
            command, env={**os.environ, **folders}, capture_output=True, text=True, timeout=300, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"neo4j-admin {' '.join(args)}: {done.stdout}{done.stderr}")

    def close(self) -> None:
        self.stop()
        shutil.rmtree(self.home / "data", ignore_errors=True)

    def _end(self, *, gracefully: bool) -> None:
        if (watchdog := self._watchdog) is not None:
            watchdog.kill()
            watchdog.communicate()
        if (process := self._process) is not None:
            if gracefully:
                process.terminate()
                try:
                    process.wait(STOP_TIMEOUT)
                except subprocess.TimeoutExpired:
                    process.kill()
            else:
                process.kill()
            process.wait()
        self._process = self._watchdog = None

    def _command(self) -> list[str]:
        folders = [f"--home-dir={self.home}", f"--config-dir={self.home / 'conf'}"]
        head = [str(self.java.path), f"-Xmx{self.heap}", *self.options, *self._opened()]
        return [*head, "-cp", self.class_path, self.release.main_class, *folders]

    def _opened(self) -> list[str]:
        return [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]

    def _tail(self) -> str:
        files = (path for path in (self.log, self.home / "logs" / "neo4j.log") if path.exists())
        lines = (line for path in files for line in path.read_text(errors="replace").splitlines()[-30:])
        return "\n".join(lines)
