"""The cells of docs/python.md run one after the other, as in a notebook, and print what stands below them."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def cells() -> list[tuple[str, str]]:
    """Each cell of the section, with the text that it prints."""
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    section = re.search(r"^## Scripts and notebooks\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    assert section
    return re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", section[1], re.DOTALL)


async def test_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """In an empty folder, with nothing set."""
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    assert len(cells()) > 6
    for code, printed in cells():
        compiled = compile(code, "docs/python.md", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if inspect.isawaitable(running := eval(compiled, names)):
            await running
        assert capsys.readouterr().out == printed, code
