"""What the documentation site takes from beside docs/: the README is its first page, and pages link to files.

A hook of mkdocs (`mkdocs.yml`). In the checkout links lead from docs/ to what stands beside it; on the site
docs/ is the root, and what stands beside it is there under its own name.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
PLACES = (
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "bench/README.md", "schema.graphql", "docker-compose.yml",
    "examples/*.py", "examples/client/[!.]*.*",
)  # fmt: skip
BESIDE = [path.relative_to(ROOT).as_posix() for place in PLACES for path in sorted(ROOT.glob(place))]
LINK = re.compile(r"\]\((?![\w+]+:|#)([^)#\s]+)")


def on_files(files: Files, config: Any) -> Files:
    """Adds what stands beside docs/."""
    for name in BESIDE:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Turns the links of the checkout into those of the site."""
    name = page.file.src_uri
    folder = posixpath.dirname(name if name in BESIDE else f"docs/{name}")

    def linked(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, found[1])).removeprefix("docs/")
        return "](" + posixpath.relpath(target, posixpath.dirname(name) or ".")

    return LINK.sub(linked, markdown)
