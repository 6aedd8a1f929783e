"""What the commands about keys and Spaces say where they cannot do it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.e2e.conftest import sqlite_store
from tests.e2e.processes import run

FAILING = {
    ("keys", "create", "--name", "x", "--scope", "operator", "--space", "a"): "has no Space",
    ("keys", "create", "--name", "x", "--space", "A B"): "1 to 64 of [a-z0-9-]",
    ("keys", "create", "--name", ""): "not empty",
    ("keys", "revoke", "nobody"): 'there is no key "nobody"',
    ("spaces", "create", "default"): 'there is a space "default" already',
    ("spaces", "delete", "default"): "say so by --expected-count 0",
    ("spaces", "delete", "default", "--expected-count", "1"): "0 sessions would go, not 1",
    ("spaces", "delete", "never-made", "--expected-count", "0"): 'there is no space "never-made"',
}


def test_commands_that_fail(tmp_path: Path) -> None:
    """A sentence, exit 1, nothing on standard output."""
    settings = {"STELLO_STORE": sqlite_store(tmp_path).url}
    made = run(["keys", "create", "--name", "[first]"], settings)
    assert (made.returncode, made.stderr) == (0, "")
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda args: run(args, settings), FAILING))

    for (args, sentence), one in zip(FAILING.items(), done, strict=True):
        assert (one.returncode, one.stdout) == (1, ""), args
        assert sentence in one.stderr, args
        assert "Traceback" not in one.stderr
        assert len(one.stderr.strip().splitlines()) == 1, args
    listed = run(["keys", "list"], settings)
    assert " [first] " in listed.stdout
    assert made.stdout.strip() not in listed.stdout
