import os
from typing import Final

import hypothesis
import pytest

# A machine that is busy with other tests may stand still: no example has a deadline.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")

pytest_plugins = [
    "tests.engines",
    "tests.extras",
    "tests.model_server.fixtures",
    "tests.openai_server.fixtures",
]

FOREIGN: Final = ("STELLO_", "ANTHROPIC_", "OPENAI_")


def clean_environment(environment: "pytest.MonkeyPatch") -> None:
    for name in [name for name in os.environ if name.startswith(FOREIGN)]:
        environment.delenv(name)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    patch = pytest.MonkeyPatch()
    clean_environment(patch)
    config.add_cleanup(patch.undo)


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    clean_environment(monkeypatch)
