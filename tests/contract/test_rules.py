"""Each rule of rules.txt has a test that carries its name, or stands in later.txt with the reason."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeGuard

TESTS: Final = Path(__file__).parent.parent
LINE: Final = re.compile(r"([A-Z]+[0-9]*(?:-[A-Z0-9]+)?)  (\S.*)")


def catalogue(name: str) -> dict[str, str]:
    """The lines of a file: id and sentence."""
    lines = (TESTS / "contract" / name).read_text(encoding="utf-8").splitlines()
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if not line or line.startswith("#"):
            continue
        match = LINE.fullmatch(line)
        assert match, f"{name}:{number}: not an id, two spaces and a sentence"
        assert match[1] not in found, f"{name}:{number}: {match[1]} is there twice"
        found[match[1]] = match[2]
    return found


def is_covers(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.covers"


def marks_of_tests(tree: ast.Module) -> Iterator[ast.Call]:
    """The marks on what pytest collects: a module, its test classes and test functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            marks = node.decorator_list if node.name.startswith("test_") else []
        elif isinstance(node, ast.ClassDef):
            marks = node.decorator_list if node.name.startswith("Test") else []
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            marks = node.value.elts if isinstance(node.value, ast.List) else [node.value]
        else:
            continue
        yield from (mark for mark in marks if is_covers(mark))


def names(mark: ast.Call, where: str) -> Iterator[str]:
    assert mark.args, f"{where}: a mark without names"
    assert not mark.keywords, f"{where}: names alone"
    for name in mark.args:
        assert isinstance(name, ast.Constant), f"{where}: a name that is not written out"
        assert isinstance(name.value, str), f"{where}: a name is a string"
        yield name.value


def covered() -> dict[str, list[str]]:
    """Which rule is named where."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for mark in marks_of_tests(tree):
            where = f"{path.relative_to(TESTS)}:{mark.lineno}"
            for name in names(mark, where):
                found.setdefault(name, []).append(where)
    return found


RULES: Final = catalogue("rules.txt")
LATER: Final = catalogue("later.txt")
COVERED: Final = covered()


def test_each_rule_has_a_test_or_comes_later() -> None:
    """A rule without a test is listed with the reason."""
    assert RULES.keys() - COVERED.keys() - LATER.keys() == set()


def test_marks_name_rules() -> None:
    """No mark names what is no rule, or twice the same at one place."""
    assert {name: where for name, where in COVERED.items() if name not in RULES} == {}
    assert [name for name, where in COVERED.items() if len(set(where)) < len(where)] == []


def test_what_comes_later_has_no_test_yet() -> None:
    """Whoever writes the test takes the line away: the list only becomes shorter."""
    assert {name: COVERED[name] for name in LATER.keys() & COVERED.keys()} == {}
    assert LATER.keys() <= RULES.keys()


def test_marks_stand_on_tests() -> None:
    """A mark on a helper or a fixture proves nothing."""
    for path in sorted(TESTS.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        on_tests = {id(mark) for mark in marks_of_tests(tree)} if path.name.startswith("test_") else set()
        stray = [node.lineno for node in ast.walk(tree) if is_covers(node) and id(node) not in on_tests]
        assert stray == [], path


def test_every_fault_of_the_predecessor_is_there() -> None:
    """W1 to W48, none forgotten, in their order."""
    assert [name for name in RULES if re.fullmatch(r"W\d+", name)] == [f"W{n}" for n in range(1, 49)]
