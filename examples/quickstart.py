"""A conversation, a fork of it, a digest and an insight: without HTTP, on the embedded engine.

Run it with `python examples/quickstart.py`; without ANTHROPIC_API_KEY the offline model answers.
"""

import asyncio
import tempfile
from pathlib import Path

from stello_graph import Settings, build
from stello_graph.model.requests import CreateSession, Fork, Send
from stello_graph.model.values import ForkContext


async def main(folder: Path) -> None:
    async with build(Settings(store=f"sqlite:///{folder / 'quickstart.db'}")) as graph:
        space = graph.space()
        root = await space.create_session(CreateSession(label="Trip", system_prompt="You plan trips."))
        turn = await space.send(Send(session_id=root.id, content="Three days in Lisbon, please."))
        print("turn:", turn.status)

        fork = await space.fork(
            Fork(source_session_id=root.id, label="With children", context=ForkContext.INHERIT)
        )
        begun = await space.start_turn(Send(session_id=fork.id, content="And with two children?"))
        async for event in space.turn_events(begun.id):
            print("event:", type(event).__name__, event.seq)

        digest = await space.consolidate(fork.id)
        print("digest:", digest.memory)
        await space.put_insight(root.id, "The family branch prefers museums.", fork.id)
        preview = await space.preview(root.id, "What else?")
        print("next prompt:", [message.origin for message in preview.messages])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))
