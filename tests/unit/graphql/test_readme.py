"""The first round of the README, as it is written there."""

import re
from pathlib import Path
from typing import Any

from tests.unit.graphql.conftest import Api

README = Path(__file__).parents[3] / "README.md"


async def test_the_first_round(api: Api) -> None:
    """Each line of the README runs on a fresh store, one after the other, and gives what it promises."""
    (block,) = re.findall(r"```graphql\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    answers: dict[str, Any] = {}
    for line in block.strip().splitlines():
        answers |= await api.ask(line)

    assert answers["send"]["status"] == "COMPLETED"
    assert answers["consolidate"]["memory"]
    messages = answers["contextPreview"]["messages"]
    assert "INSIGHT" in [message["origin"] for message in messages]
    assert messages[-1] == {"role": "user", "origin": "USER_INPUT", "content": "What next?"}
    below = [{"id": "b", "label": "By train", "sourceSeq": 2}]
    assert answers["getChildren"] == [{"id": "a", "label": "Lisbon", "childCount": 1, "children": below}]
