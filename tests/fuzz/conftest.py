from collections.abc import Iterator

import pytest

from tests.fuzz.world import World


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """An app that a module's examples share; afterwards its store is whole and no fault was logged."""
    with World(tmp_path_factory.mktemp("fuzz")) as made:
        yield made
        made.check_store()
