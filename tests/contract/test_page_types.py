"""The pages' scripts by the tools of their language: types, and that vendor/ is what its script makes."""

import filecmp
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from stello_graph.http.assets import web_root

WEB = web_root()


def run(command: list[str], folder: Path, path: str) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    output: str = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


def test_types_hold_and_the_vendored_files_are_what_the_script_makes(node_path: Path, tmp_path: Path) -> None:
    path = os.pathsep.join([str(node_path.parent), os.environ["PATH"]])
    npm = shutil.which("npm", path=path)
    assert npm, "npm comes with Node.js"
    folder = tmp_path / "web"
    shutil.copytree(WEB, folder, ignore=shutil.ignore_patterns("node_modules"))
    run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], folder, path)
    node = str(node_path)
    types = [node, "node_modules/typescript/bin/tsc", "-p", "tsconfig.json"]
    run(types, folder, path)
    (folder / "star-map" / "planted.js").write_text("/** @type {number} */\nexport const wrong = 'text';\n")
    with pytest.raises(AssertionError, match="planted"):
        run(types, folder, path)
    made = tmp_path / "made"
    run([node, "vendor.mjs", str(made)], folder, path)
    names = [entry["file"] for entry in json.loads((made / "MANIFEST.json").read_text("utf-8"))["files"]]
    _, different, missing = filecmp.cmpfiles(made, WEB / "vendor", [*names, "MANIFEST.json"], shallow=False)
    assert (different, missing) == ([], [])
