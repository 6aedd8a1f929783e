"""The pages' scripts by the tools of their language: types, and that vendor/ is what its script makes."""

import filecmp
import json
import shutil
from pathlib import Path

import pytest

from stello_graph.http.assets import web_root
from tests.npm import Project

WEB = web_root()
TYPES = ("node_modules/typescript/bin/tsc", "-p", "tsconfig.json")


def test_types_hold_and_the_vendored_files_are_what_the_script_makes(node_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "web"
    shutil.copytree(WEB, folder, ignore=shutil.ignore_patterns("node_modules"))
    project = Project(folder, node_path)
    project.node(*TYPES)
    (folder / "star-map" / "planted.js").write_text("/** @type {number} */\nexport const wrong = 'text';\n")
    with pytest.raises(AssertionError, match="planted"):
        project.node(*TYPES)
    made = tmp_path / "made"
    project.node("vendor.mjs", str(made))
    names = [entry["file"] for entry in json.loads((made / "MANIFEST.json").read_text("utf-8"))["files"]]
    _, different, missing = filecmp.cmpfiles(made, WEB / "vendor", [*names, "MANIFEST.json"], shallow=False)
    assert (different, missing) == ([], [])
