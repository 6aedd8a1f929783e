"""The benchmark of imports: what it imports, and that it runs."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.imports import Imported, export_lines

ROOT: Final = Path(__file__).resolve().parents[2]


def test_messages_are_of_two_hundred_characters() -> None:
    """As many as are asked for, and no two alike."""
    conversations = json.loads(b"".join(export_lines(45)))
    texts = [message["text"] for one in conversations for message in one["chat_messages"]]
    assert len(texts) == len(set(texts)) == 45
    assert {len(text) for text in texts} == {200}


def test_what_is_too_slow_is_missed() -> None:
    """By its rate."""
    quick = Imported(
        what="an export", messages=800, seconds=0.1, cpu=0.1, before=80.0, peak=90.0, at_least=8_000.0
    )
    assert quick.is_met
    assert str(replace(quick, seconds=0.11)).endswith("  MISSED")


def test_the_benchmark_runs() -> None:
    """A line for each file; exit 1 where one is missed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench.imports", "--messages", "60"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    head, claude, own = done.stdout.splitlines() or [done.stderr]
    assert head.split() == ["sqlite", "messages", "rate", "at", "least", "cpu", "each", "before", "peak"]
    assert claude.startswith("an export of Claude  ")
    assert own.startswith("lines of our own export  ")
    assert done.returncode == ("MISSED" in done.stdout)
