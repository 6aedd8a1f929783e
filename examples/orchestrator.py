"""An orchestrator of its own: it reads digests and pushes insights, without a MAIN session.

Run it with `python examples/orchestrator.py`; without ANTHROPIC_API_KEY the offline model answers.
"""

import asyncio
import tempfile
from pathlib import Path

from stello_graph import InsightDraft, Settings, SpaceService, build
from stello_graph.model.requests import CreateSession, Send, SpaceChanges
from stello_graph.model.session import SessionDigest
from stello_graph.model.space import Trigger
from stello_graph.model.writes import SessionFilter

TOPICS = {"flights": "I fly to Lisbon on Friday.", "hotel": "A hotel near the river, three nights."}


async def main(folder: Path) -> None:
    async with build(Settings(store=f"sqlite:///{folder / 'orchestrator.db'}")) as graph:
        space = graph.space()
        await space.configure(SpaceChanges(consolidate_on=(Trigger.EVERY_N_TURNS,), every_n_turns=1))
        for id, said in TOPICS.items():
            await space.create_session(CreateSession(id=id, label=id.title()))
            await space.send(Send(session_id=id, content=said))

        digests: list[SessionDigest] = []
        seen = 0
        while len(digests) < len(TOPICS):
            found, seen = await changed(space, seen)
            digests += found
            await asyncio.sleep(0.05)

        told = await space.put_insights([hint(one, digests) for one in digests])
        for session in told:
            print(session.label, "hears:", session.insight and session.insight.content)
        answer = await space.send(Send(session_id="hotel", content="When do I arrive?"))
        print("next turn:", answer.status, "- the insight is used up")


async def changed(space: SpaceService, seen: int) -> tuple[list[SessionDigest], int]:
    """The digests that changed after event `seen`, and the number to ask with next time."""
    page = await space.store.digests(SessionFilter(), changed_after=seen, after="", first=100)
    return [one for one in page.digests if one.memory], page.event_seq


def hint(about: SessionDigest, digests: list[SessionDigest]) -> InsightDraft:
    """What the other sessions know; here a program decides, it could be a model."""
    others = [f"{one.label}: {one.memory}" for one in digests if one.id != about.id]
    return InsightDraft(session_id=about.id, content="\n".join(others))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(Path(folder)))
