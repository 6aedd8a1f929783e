"""The command line: what it says, and with which status it ends."""

import gzip
import json
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

import httpx
import pytest

from stello_graph.doctor import variable
from stello_graph.interchange.intake import NOT_OWN, OTHERS
from stello_graph.settings import Settings
from tests.e2e.conftest import Serve, sqlite_store
from tests.e2e.processes import PROGRAM, Store, run
from tests.e2e.story import FILES
from tests.e2e.waiting import until
from tests.unit.interchange.archives import export, zipped
from tests.unit.interchange.stores import engine_store

ROOT: Final = Path(__file__).parents[2]
SINGLE: Final = str(FILES / "single.json")
COMMANDS: Final = ("serve", "migrate", "import", "export", "demo", "schema", "doctor")
UNKNOWN: Final = "mysql://localhost"
# Nothing listens on the discard port.
AWAY: Final = "bolt://127.0.0.1:9"
ROUTED_AWAY: Final = "neo4j://127.0.0.1:9"

# What an export goes into.
_SCRIPTS: Final = {
    "full": '"$PROGRAM" export - --space grown > /dev/full',
    "closed": '"$PROGRAM" export - --space grown | true; exit "${PIPESTATUS[0]}"',
    "piped": '"$PROGRAM" export - --space grown | gzip | "$PROGRAM" import - --space piped',
    "packed": '"$PROGRAM" export >(gzip > "$FOLDER/grown.gz") --space grown; wait $!',
}

Done = subprocess.CompletedProcess[str]


class Commands:
    """Runs commands side by side, each once: some only wait for a store that is away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._pool = ThreadPoolExecutor(4)
        self._running: dict[str, Future[Done]] = {}

    def start(self, name: str, *args: str, settings: Mapping[str, str] | None = None) -> None:
        """Begins a command."""
        self._running[name] = self._pool.submit(run, args, settings or {})

    def start_script(self, name: str, script: str, settings: Mapping[str, str]) -> None:
        """Begins what a person may write into a shell; `$PROGRAM` is the command."""
        given = {**settings, "PROGRAM": str(PROGRAM), "FOLDER": str(self.folder)}
        self._running[name] = self._pool.submit(run, ("-c", script), given, "bash")

    def __getitem__(self, name: str) -> Done:
        """What became of a command."""
        return self._running[name].result()

    def close(self) -> None:
        """Waits for all."""
        self._pool.shutdown()


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """All commands that these tests look at."""
    folder = tmp_path_factory.mktemp("cli")
    started = Commands(folder)
    file = {"STELLO_STORE": f"sqlite:///{folder / 'stello.db'}"}
    (folder / "text.txt").write_text("hello")
    (folder / "nothing.json").write_text('[{"mapping": {}, "title": "x"}]')
    (folder / "broken.zip").write_bytes(zipped({"conversations.json": export("a")})[:-9])
    (folder / "text.db").write_text("this is no database, but long enough to have been one" * 100)
    started.start("migrate", "migrate", settings=file)
    started.start("help", "--help")
    for command in COMMANDS:
        started.start(f"{command} --help", command, "--help")
    for name, *args in _failing(folder):
        started.start(name, *args)
    secret = {**file, "STELLO_NEO4J_PASSWORD": "pass-word", "ANTHROPIC_API_KEY": "sk-secret-key"}
    started["migrate"]
    started.start("migrate again", "migrate", settings=file)
    grown = ("demo", "--size", "50", "--space", "grown")
    started.start("demo", *grown, settings=file)
    started.start("doctor", "doctor", settings=secret)
    started.start("doctor: as JSON", "doctor", "--json", "--store", file["STELLO_STORE"], settings=secret)
    mistyped = {"STELLO_STROE": "x", "STELLO_MODEL_PROVIDER": "openai", "STELLO_MIGRATE": "false"}
    (folder / "empty.db").touch()
    empty, nowhere = folder / "empty.db", folder / "nowhere" / "stello.db"
    started.start("doctor: problems", "doctor", "--store", f"sqlite:///{empty}", settings=mistyped)
    started.start("doctor: no file", "doctor", "--store", f"sqlite:///{nowhere}")
    started.start("schema", "schema")
    started["demo"]
    started.start("demo again", *grown, settings=file)
    _export_and_import(started, file)
    yield started
    started.close()


def _export_and_import(started: Commands, file: Mapping[str, str]) -> None:
    whole, part = str(started.folder / "grown.jsonl"), str(started.folder / "part.jsonl")
    export = ("export", whole, "--space", "grown")
    started.start("export", *export, settings=file)
    started.start("export: standard output", "export", "-", "--space", "grown", settings=file)
    started.start("export: part", "export", part, "--root", "detector", "--space", "grown", settings=file)
    started.start("export: no session", "export", "-", "--root", "nobody", "--space", "grown", settings=file)
    for name, script in _SCRIPTS.items():
        started.start_script(f"export: {name}", script, file)
    started["export"]
    started.start("export again", *export, settings=file)
    started.start("moved", "import", whole, "--space", "moved", settings=file)
    started["export again"]
    started["moved"]
    started.start("export: force", *export, "--force", settings=file)
    started.start("moved again", "import", whole, "--space", "moved", settings=file)
    started["moved again"]
    started.start("new ids", "import", whole, "--space", "moved", "--new-ids", settings=file)


def _failing(folder: Path) -> list[tuple[str, ...]]:
    missing = f"sqlite:///{folder / 'missing.db'}"
    unusable = f"sqlite:///{folder / 'text.db' / 'in a file.db'}"
    unmigrated = f"sqlite:///{folder / 'unmigrated.db'}"
    return [
        ("nothing",),
        ("unknown", "fly"),
        ("unknown option", "serve", "--wings"),
        *(
            (f"{command}: unknown store", command, *_file(command), "--store", "mysql://x")
            for command in _STORED
        ),
        *((f"{command}: store away", command, *_file(command), "--store", AWAY) for command in _STORED),
        ("migrate: routed store away", "migrate", "--store", ROUTED_AWAY),
        ("serve: no folder", "serve", "--port", "0", "--store", unusable),
        ("migrate: no database", "migrate", "--store", f"sqlite:///{folder / 'text.db'}"),
        ("serve: not migrated", "serve", "--port", "0", "--no-migrate", "--store", unmigrated),
        ("serve: bad port", "serve", "--port", "99999"),
        ("import: no file", "import", str(folder / "nobody.json")),
        ("import: no input", "import", "-", "--store", missing),
        ("import: text", "import", str(folder / "text.txt"), "--store", missing),
        ("import: nothing", "import", str(folder / "nothing.json"), "--store", missing),
        ("import: broken archive", "import", str(folder / "broken.zip"), "--store", missing),
        ("import: bad format", "import", SINGLE, "--format", "telegram", "--store", missing),
        ("demo: too many", "demo", "--size", "100001", "--store", missing),
        ("demo: bad space", "demo", "--space", "No Space", "--store", missing),
        ("import: new ids", "import", SINGLE, "--new-ids", "--store", f"sqlite:///{folder / 'unmade.db'}"),
        ("export: no database", "export", "-", "--store", f"sqlite:///{folder / 'nobody.db'}"),
        ("import: bad space", "import", SINGLE, "--space", "No Space", "--store", missing),
    ]


_STORED: Final = ("serve", "migrate", "import", "export", "demo", "doctor")


def _file(command: str) -> tuple[str, ...]:
    return {"import": (SINGLE,), "export": ("-",)}.get(command, ())


def test_help_names_the_commands(commands: Commands) -> None:
    """Alone and asked for help it says what there is; the status tells which."""
    asked, alone = commands["help"], commands["nothing"]
    assert (asked.returncode, alone.returncode) == (0, 2)
    for command in COMMANDS:
        assert re.search(rf"^│ {command} ", asked.stdout, re.MULTILINE), command
        assert command in alone.stdout + alone.stderr


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            "serve",
            ("--host", "--port", "--store", "--no-migrate", "--grace", "--skills", "STELLO_STORE", "SIGTERM"),
        ),
        ("migrate", ("--store", "schema")),
        ("import", ("--format", "--space", "--store", "what was imported and what not and why")),
        ("export", ("--root", "--space", "--force", "--store", "what was written")),
        ("schema", ("GraphQL",)),
        ("doctor", ("--store", "all settings")),
    ],
)
def test_each_command_explains_itself(commands: Commands, command: str, told: tuple[str, ...]) -> None:
    """Its purpose, its options, and the variables that set the same."""
    done = commands[f"{command} --help"]
    assert (done.returncode, done.stderr) == (0, "")
    for words in told:
        assert words in done.stdout, words


@pytest.mark.parametrize(
    ("name", "status", "sentence"),
    [
        ("unknown", 2, "No such command 'fly'"),
        ("unknown option", 2, "No such option: --wings"),
        ("serve: unknown store", 1, 'the store "mysql" is of no known kind'),
        ("doctor: unknown store", 1, 'the store "mysql" is of no known kind'),
        *((f"{command}: store away", 1, "the graph database cannot be used now") for command in _STORED),
        ("migrate: routed store away", 1, "the graph database cannot be used now"),
        ("serve: no folder", 1, "the database file cannot be opened"),
        ("migrate: no database", 1, "file is not a database"),
        ("serve: not migrated", 1, "run stello-graph migrate"),
        ("serve: bad port", 1, "port: Input should be less than or equal to 65535"),
        ("import: no file", 1, "nobody.json: it cannot be read: No such file or directory"),
        ("import: no input", 1, "the standard input: it is empty"),
        (
            "import: text",
            1,
            "text.txt: it is no export of conversations; known formats: chatgpt, claude, openwebui, "
            "librechat, jsonl",
        ),
        ("import: nothing", 1, "Nothing that can be imported was found."),
        ("import: broken archive", 1, "broken.zip: the archive is damaged or not whole"),
        (
            "import: bad format",
            1,
            "unknown format telegram: use auto, chatgpt, claude, openwebui, librechat, jsonl",
        ),
        ("import: new ids", 1, NOT_OWN),
        ("export: no database", 1, "there is no database file"),
        ("export: no session", 1, 'there is no session "nobody"'),
        ("demo: too many", 1, "size must be 1 to 100000"),
        ("demo: bad space", 1, "a Space's id must be 1 to 64 of [a-z0-9-]"),
        ("import: bad space", 1, "a Space's id must be 1 to 64 of [a-z0-9-]"),
    ],
)
def test_what_cannot_be_done_is_a_sentence(commands: Commands, name: str, status: int, sentence: str) -> None:
    """On stderr (a report: stdout), once, without a stack trace."""
    done = commands[name]
    told = done.stdout + done.stderr
    assert sentence in told, told
    assert "Traceback" not in told
    assert done.returncode == status
    if not name.startswith("doctor"):
        assert len(told.strip().splitlines()) <= 4, told


def test_what_is_refused_makes_nothing(commands: Commands) -> None:
    """Neither a database nor a Space."""
    assert commands["import: new ids"].returncode == 1
    assert not (commands.folder / "unmade.db").exists()


def test_import_takes_archives_folders_and_several_files(tmp_path: Path) -> None:
    """All with one report; what was an archive is the same when it is unpacked."""
    store = sqlite_store(tmp_path)
    folder = tmp_path / "data"
    (folder / "old").mkdir(parents=True)
    files = {"conversations-000.json": export("a"), "old/conversations.json": export("b"), "chat.html": b""}
    for name, content in files.items():
        (folder / name).write_bytes(content)
    archive = tmp_path / "data.zip"
    archive.write_bytes(zipped(files))

    first = run(["import", str(archive), SINGLE, "--store", store.url])
    again = run(["import", str(folder), "--store", store.url])
    assert (first.returncode, again.returncode) == (0, 0), first.stderr + again.stderr
    assert "Conversations read: 3\n" in first.stdout
    assert f"Not looked at, 1: {OTHERS}\n  {archive}/chat.html\n" in first.stdout
    assert "Sessions there already: 2\n" in again.stdout
    assert "Nothing was added" in again.stdout


def test_import_takes_a_store_of_the_predecessor(tmp_path: Path) -> None:
    """A folder of its own kind, alone; what is broken in it is told."""
    store, folder = sqlite_store(tmp_path), engine_store(tmp_path / "tree")
    first, again = (run(["import", str(folder), "--store", store.url]) for _ in range(2))
    beside = run(["import", str(folder), SINGLE, "--store", store.url])
    renewed = run(["import", str(folder), "--new-ids", "--store", store.url])
    chosen = run(["import", str(folder), "--format", "claude", "--store", store.url])

    assert (first.returncode, again.returncode, beside.returncode) == (0, 0, 1), first.stderr
    assert "Sessions: 4 imported (2 of them forks), 0 extended\n" in first.stdout
    assert "Settings, records, memories, skills, profiles: 2 imported, 0 there already\n" in first.stdout
    assert "Skipped, 1: the line is no record\n  session a, line 5\n" in first.stdout
    assert "Nothing was added" in again.stdout
    assert "imported alone" in beside.stderr
    assert (renewed.returncode, renewed.stderr.strip()) == (1, NOT_OWN)
    assert (chosen.returncode, "leave --format out" in chosen.stderr) == (1, True)


def test_schema_prints_the_contract(commands: Commands) -> None:
    """The same text as schema.graphql."""
    done = commands["schema"]
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (ROOT / "schema.graphql").read_text()


def test_demo_fills_an_empty_space(commands: Commands) -> None:
    """Once, and says how many sessions it made."""
    first, again = commands["demo"], commands["demo again"]
    assert (first.returncode, first.stdout, again.returncode) == (
        0,
        "Made 50 sessions in the Space grown.\n",
        1,
    )
    assert again.stderr.strip() == 'the Space "grown" is not empty: the demo goes into an empty one'


def test_export_and_import(commands: Commands) -> None:
    """All of a Space into a file, never over another by itself, and into another Space, once."""
    done, piped = commands["export"], commands["export: standard output"]
    assert (done.returncode, done.stderr) == (0, "")
    told = re.match(
        rf"From the Space grown in sqlite:///{commands.folder}/stello.db\n"
        r"Exported: .*50 sessions, .*?(\d+) messages\nMessages are told once; further sessions share",
        done.stdout,
    )
    assert told, done.stdout
    file = commands.folder / "grown.jsonl"
    assert (piped.returncode, piped.stdout, piped.stderr) == (0, file.read_text(), done.stdout)
    assert file.stat().st_mode & 0o777 == 0o600
    again, forced = commands["export again"], commands["export: force"]
    assert (again.returncode, forced.returncode) == (1, 0)
    assert "is there already: --force replaces it" in again.stderr
    assert [path.name for path in commands.folder.glob("*.jsonl*")] != []
    assert list(commands.folder.glob(".*")) == []
    part = (commands.folder / "part.jsonl").read_text().splitlines()
    assert json.loads(part[0]) == {"format": "stello-graph", "version": 1}
    assert "parentId" not in next(line for line in map(json.loads, part) if line.get("id") == "detector")
    assert len(part) < len(file.read_text().splitlines())

    full, closed, through, packed = (commands[f"export: {name}"] for name in _SCRIPTS)
    assert (full.returncode, full.stderr) == (
        1,
        "the standard output cannot be written: No space left on device\n",
    )
    assert (closed.returncode, closed.stderr) == (1, "")
    assert (packed.returncode, packed.stdout, packed.stderr) == (0, "", done.stdout)
    assert gzip.decompress((commands.folder / "grown.gz").read_bytes()) == file.read_bytes()

    assert through.returncode == 0, through.stderr
    assert "/stello.db, which was made for it\n" in through.stdout
    assert "Sessions: 50 imported" in through.stdout
    first, second, renewed = commands["moved"], commands["moved again"], commands["new ids"]
    assert (first.returncode, second.returncode, renewed.returncode) == (0, 0, 0)
    into = f"Into the Space moved in sqlite:///{commands.folder}/stello.db"
    assert first.stdout.startswith(f"{into}, which was made for it\n")
    assert second.stdout.startswith(f"{into}\n")
    assert "Sessions: 50 imported" in first.stdout
    assert f"Messages imported: {told[1]}\n" in first.stdout
    assert "Nothing was added: all of it is there already." in second.stdout
    assert "Sessions: 50 imported" in renewed.stdout


def test_migrate_says_what_it_did(commands: Commands) -> None:
    """The applied migrations by name, then that there is nothing to do."""
    first, again = commands["migrate"], commands["migrate again"]
    assert (first.returncode, again.returncode) == (0, 0)
    assert re.fullmatch(r"(applied \d{4}_\w+\n)+", first.stdout)
    assert again.stdout == "The schema is up to date.\n"


@pytest.mark.covers("W43")
def test_doctor_shows_all_settings_but_no_secrets(commands: Commands) -> None:
    """Each with its value and what it means; the database and its schema."""
    done = commands["doctor"]
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for name, field in Settings.model_fields.items():
        shown = variable(name)
        assert any(line.startswith(f"{shown} ") and (field.description or "") in line for line in lines), name
    columns = {found.start(1) for line in lines if (found := re.match(r"\w.*?  (default|variable) ", line))}
    assert len(columns) == 1, "they are straight"
    assert re.search(r"^STELLO_STORE .*stello\.db ", done.stdout, re.MULTILINE)
    assert re.search(r"^database .*SQLite 3\.", done.stdout, re.MULTILINE)
    assert re.search(r"^migrations +up to date$", done.stdout, re.MULTILINE)
    assert "pass-word" not in done.stdout
    assert "sk-secret-key" not in done.stdout


def test_doctor_as_json(commands: Commands) -> None:
    """The same as an object, with where each setting came from; secrets are masked there too."""
    done = commands["doctor: as JSON"]
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    settings = {setting["name"]: (setting["value"], setting["origin"]) for setting in told["settings"]}
    assert list(settings) == list(Settings.model_fields)
    variables = [setting["variable"] for setting in told["settings"]]
    assert {"STELLO_STORE", "ANTHROPIC_API_KEY"} < set(variables)
    assert settings["store"][1] == "flag"
    assert settings["anthropic_api_key"] == ("**********", "variable")
    assert settings["neo4j_password"] == ("**********", "variable")
    assert settings["port"] == ("8000", "default")
    checks = {check["name"]: check["status"] for check in told["checks"]}
    well = {"versions", "model", "access", "database", "migrations", "schema", "store's clock"}
    assert {name for name, status in checks.items() if status == "ok"} >= well
    assert "disk" in checks
    assert "pass-word" not in done.stdout
    assert "sk-secret-key" not in done.stdout


def test_doctor_finds_problems(commands: Commands) -> None:
    """Each with what to do, and exit 1; a file that is not there is no problem, and is not made."""
    done = commands["doctor: problems"]
    assert done.returncode == 1
    assert re.search(r"^variables +advice: STELLO_STROE is no setting$", done.stdout, re.MULTILINE)
    assert re.search(r"^model +problem: .*needs OPENAI_API_KEY", done.stdout, re.MULTILINE)
    assert re.search(r"^migrations +problem: .*run stello-graph migrate$", done.stdout, re.MULTILINE)
    assert commands["doctor: no file"].returncode == 0
    assert not (commands.folder / "nowhere").exists()


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    """With the address and what to do, and a status that is not 0; to a pipe in one line."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        serve = ["serve", "--port", port, "--store", sqlite_store(tmp_path).url]
        several = [run([*serve, *more], {"COLUMNS": "80"}) for more in ([], ["--workers", "2"])]
    for done in several:
        told = f"port {port} of 127.0.0.1 is in use already: choose another by --port"
        assert (done.returncode, done.stderr.startswith(told), done.stderr.count("\n")) == (1, True, 1), done
    long = str(tmp_path / ("a" * 90))
    missing = run(["import", long], {"COLUMNS": "80"})
    assert (missing.returncode, missing.stderr.count("\n")) == (1, 1)
    assert long in missing.stderr


async def test_the_addresses_and_the_command_that_are_told_can_be_used(serve: Serve, tmp_path: Path) -> None:
    """A browser opens no 0.0.0.0, and the first key is made by what is pasted, wherever the program is."""
    store = Store(f"sqlite:///{tmp_path / 'my store.db'}")
    server = serve(store, "--host", "0.0.0.0", ready=False)
    await until(lambda: "keys create" in server.output(), "it serves", seconds=60)
    told = server.output()
    found = re.search(r"^Star map +(http://127\.0\.0\.1:(\d+)/)$", told, re.MULTILINE)
    assert found, told
    assert f"on all interfaces, port {found[2]}" in told
    async with httpx.AsyncClient() as client:
        assert (await client.get(found[1])).status_code == 200
    command = re.search(r"until there is a key: (.+)$", told, re.MULTILINE)
    assert command, told
    made = run(["-c", command[1]], program="bash")
    assert made.stdout.startswith("stello_"), made.stderr
    listed = run(["keys", "list", "--store", store.url])
    assert "NAME" in listed.stdout


async def test_serve_tells_its_address_at_once(serve: Serve, tmp_path: Path) -> None:
    """To a file as well, which Python would buffer."""
    server = serve(sqlite_store(tmp_path), settings={"PYTHONUNBUFFERED": ""}, ready=False)
    await until(lambda: "/graphql" in server.output(), "the address is told", seconds=40)


async def test_without_a_key_the_model_says_what_it_is(serve: Serve, tmp_path: Path, name: str) -> None:
    """Offline, said at the start and in each reply; digests by extraction."""
    server = serve(sqlite_store(tmp_path))
    assert "offline" in server.output()
    async with server.client() as client:
        await client.create(name)
        turn = await client.send(name, "We meet in Kyoto at noon. Bring the tickets.")
        assert turn["status"] == "COMPLETED"
        assert turn["reply"]["content"].startswith("[offline model]")
        digest = await client.ask("mutation ($id: ID!) { consolidate(sessionId: $id) { memory } }", id=name)
        assert "Kyoto" in digest["consolidate"]["memory"]


async def test_serve_reads_skill_folders(serve: Serve, tmp_path: Path) -> None:
    """--skills may be repeated and hold commas; what is broken or missing is said and skipped."""
    for folder, name in (("one", "a"), ("two", "b"), ("three", "c")):
        file = tmp_path / folder / name / "SKILL.md"
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: {name}\n---\ncontent of {name}\n")
    (tmp_path / "one" / "broken").mkdir()
    (tmp_path / "one" / "broken" / "SKILL.md").write_text("no frontmatter")
    both = f"{tmp_path / 'one'}, {tmp_path / 'two'}"

    server = serve(
        sqlite_store(tmp_path), "--skills", both, "--skills", str(tmp_path / "three"), "--skills", "gone"
    )

    async with server.client() as client:
        found = (await client.ask("{ skills { name content } }"))["skills"]
    assert found == [{"name": name, "content": f"content of {name}"} for name in "abc"]
    assert "broken" in server.output()
    assert "gone" in server.output()
