"""Skills from files: what is read, what is skipped, and that nothing of it is fatal."""

from pathlib import Path

import pytest

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.forest.skill_folders import folder_skills, parse_skill
from stello_graph.model.knowledge import Skill

GOOD = "---\nname: tidy\ndescription: Tidies up\n---\n\nDo it.\n"


def write(folder: Path, name: str, text: str | bytes) -> None:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def skill(name: str, description: str, content: str) -> Skill:
    return Skill(name=name, description=description, content=content)


@pytest.mark.covers("SKILL-4")
@pytest.mark.parametrize(
    ("text", "read"),
    [
        (GOOD, skill("tidy", "Tidies up", "Do it.")),
        ("---\nname: 研究\n---\n正文", skill("研究", "", "正文")),
        ("---\nname: a\ndescription:\n---\nx", skill("a", "", "x")),
        ("---\nname: \"a b\"\ndescription: 'it: is'\n---\nx", skill("a b", "it: is", "x")),
        ("---\nname: a\ndescription: >-\n  two\n  lines\nmore: [1]\n---\nx", skill("a", "two lines", "x")),
        ("--- \nname: a\n---\t\n# T\n\n---\n\nrest", skill("a", "", "# T\n\n---\n\nrest")),
    ],
)
def test_what_a_file_says(text: str, read: Skill) -> None:
    """Name and description come from the frontmatter, the content is all below it."""
    assert parse_skill(text) == read


@pytest.mark.covers("SKILL-4")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "name: a\n\nx",
        "---\nname: a\nx",
        "---\nname: a\n---\n \n",
        "---\ndescription: d\n---\nx",
        "---\nname: 3\n---\nx",
        "---\nname: ''\n---\nx",
        "---\nname: |\n  two\n  lines\n---\nx",
        "---\nname: a\ndescription: [d]\n---\nx",
        "---\nname: [a\n---\nx",
        "---\nname: !!python/object:os.system x\n---\nx",
        "---\nname: " + "[" * 10_000 + "\n---\nx",
        "---\nname: 2026-99-99\n---\nx",
        "---\n- name\n---\nx",
        f"---\nname: {'a' * 101}\n---\nx",
        f"---\nname: a\n---\n{'x' * (64 * 1024 + 1)}",
    ],
    ids=range(16),
)
def test_what_is_no_skill(text: str) -> None:
    """What lacks a part, or has it in another form, is refused with a sentence."""
    with pytest.raises((InvalidInput, LimitExceeded)):
        parse_skill(text)


def test_folders_are_read_in_order(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Skills come by folder and subfolder; of two with one name the later counts."""
    write(tmp_path / "one", "b", GOOD)
    write(tmp_path / "one", "a", "\ufeff---\r\nname: first\r\n---\r\nx\r\n")
    write(tmp_path / "two", "z", GOOD.replace("Do it.", "Do it better."))
    (tmp_path / "one" / "loose").mkdir()
    (tmp_path / "one" / "SKILL.md").write_text(GOOD)

    found = folder_skills([str(tmp_path / "one"), str(tmp_path / "two")])

    assert found == (skill("first", "", "x"), skill("tidy", "Tidies up", "Do it better."))
    assert "tidy" in caplog.text


@pytest.mark.covers("SKILL-4")
def test_nothing_broken_is_fatal(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What is broken or missing is logged and skipped, and the rest is read."""
    write(tmp_path, "bytes", b"---\nname: \xff\n---\nx")
    write(tmp_path, "empty", "")
    write(tmp_path, "good", GOOD)
    write(tmp_path, "huge", GOOD + "x" * (256 * 1024))
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)

    missing = [str(tmp_path / "missing"), "~nobody-of-that-name/skills", "\x00"]
    found = folder_skills([*missing, str(tmp_path), str(tmp_path / "good" / "SKILL.md")])

    assert found == (skill("tidy", "Tidies up", "Do it."),)
    for name in ("bytes", "empty", "huge", "folder", "missing", "nobody-of-that-name"):
        assert name in caplog.text, name


@pytest.mark.covers("SKILL-4")
def test_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """~ is the home folder."""
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "skills", "good", GOOD)

    assert [found.name for found in folder_skills(["~/skills"])] == ["tidy"]
