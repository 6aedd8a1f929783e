"""Where the front-end's files are: in a wheel inside the package, in a checkout at its root."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def web_root() -> Path:
    """The folder that holds the pages and the vendored libraries.

    Returns:
        `stello_graph/web` of an installed wheel, else `web` of the checkout.

    Raises:
        FileNotFoundError: Neither is there, so the installation is incomplete.
    """
    candidates = (_PACKAGE / "web", _PACKAGE.parent / "web")
    for folder in candidates:
        if all((folder / name).is_dir() for name in ("graphiql", "star-map", "vendor")):
            return folder
    looked = " and ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"the web pages are missing; looked in {looked}")
