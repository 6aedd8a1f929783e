"""npm, and what it installs, with the Node.js of the tests."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

__all__ = ["Project"]


class Project:
    """A copy of a folder with a package.json, in which its locked packages are installed."""

    def __init__(self, folder: Path, node: Path) -> None:
        self.folder = folder
        self._node = str(node)
        self._path = os.pathsep.join([str(node.parent), os.environ["PATH"]])
        npm = shutil.which("npm", path=self._path)
        assert npm, "npm comes with Node.js"
        self._npm = npm
        self._run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"])

    def script(self, name: str) -> str:
        """What a script of its package.json prints."""
        return self._run([self._npm, "run", name])

    def node(self, *args: str, environment: Mapping[str, str] = MappingProxyType({})) -> str:
        """What a program prints."""
        return self._run([self._node, *args], environment)

    def _run(self, command: list[str], environment: Mapping[str, str] = MappingProxyType({})) -> str:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, "PATH": self._path, **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        output: str = done.stdout + done.stderr
        assert done.returncode == 0, output
        return output
