"""A reflection loop of the application's own, without MAIN: digests, its own model call, insights.

Run it with `python examples/reflection.py [--store URL]`. It needs no network: a scripted model answers.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from stello_graph import Functions, InsightDraft, Settings, SpaceService, build
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.context import ContextMessage, ContextOrigin, ModelRequest, Reply
from stello_graph.model.message import Message
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.session import Session, SessionDigest
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import SessionFilter
from stello_graph.ports import LLM

PROMPT = (
    "These conversations do not see each other. Answer as JSON, by id: what each should know of the others."
)


class Reflection:
    """Reads what is new, asks a model of its choice, and tells the sessions."""

    def __init__(self, space: SpaceService, llm: LLM) -> None:
        self.space = space
        self.llm = llm
        self.known: dict[str, SessionDigest] = {}
        self.seen = 0

    async def once(self) -> Sequence[Session]:
        """Answers the sessions that were told something; without a new digest the model is not asked."""
        which = SessionFilter(status=SessionStatus.ACTIVE)
        page = await self.space.store.digests(which, changed_after=self.seen, after="", first=1_000)
        # A digest also moves when an insight is put or used up: only another memory is news.
        new = {one.id: one for one in page.digests if one.memory and one.memory_seq > self.seen}
        self.seen = page.event_seq
        if not new:
            return []
        self.known |= new
        hints = json.loads(await self._ask())
        return await self.space.put_insights(
            [InsightDraft(session_id=id, content=hint) for id, hint in hints.items() if id in self.known]
        )

    async def _ask(self) -> str:
        """The application's own model call; a client of any provider does as well."""
        lines = "\n".join(f"{one.id} ({one.label}): {one.memory}" for one in self.known.values())
        request = ModelRequest(
            model=self.llm.default_model,
            messages=(
                ContextMessage(role="system", content=PROMPT, origin=ContextOrigin.SYSTEM_PROMPT),
                ContextMessage(role="user", content=lines, origin=ContextOrigin.USER_INPUT),
            ),
            max_output_tokens=1_000,
        )
        async for event in self.llm.stream(request):
            if isinstance(event, Reply):
                return event.text
        raise AssertionError("a stream ends with a reply")


def model(request: ModelRequest) -> Step:
    """Stands for a real model: it reflects, or takes a turn, by what it is shown."""
    if request.messages[0].content == PROMPT:
        lines = request.messages[-1].content.splitlines()
        facts = {line.partition(" (")[0]: line.partition("): ")[2] for line in lines}
        return json.dumps({id: " ".join(facts[other] for other in facts if other != id) for id in facts})
    hints = [message.content for message in request.messages if message.origin is ContextOrigin.INSIGHT]
    return f"I heard: {hints[0]}" if hints else f"Noted: {request.messages[-1].content}"


def digest(memory: str | None, messages: Sequence[Message]) -> str:
    """The digest is the application's as well: here what the user said first."""
    return memory or messages[0].content


async def main(store: str) -> None:
    llm = ScriptedLLM(default=model)
    async with build(Settings(store=store), llm=llm, functions=Functions(consolidate=digest)) as graph:
        await graph.store.ensure_space("reflection", "A reflection loop")
        space = graph.space("reflection")
        reflection = Reflection(space, llm)
        reflection.seen = (await space.store.space()).event_seq

        flights = await space.create_session(CreateSession(label="Flights"))
        hotel = await space.create_session(CreateSession(label="Hotel"))
        await talk(space, flights, "We land on Friday at 21:40.")
        await talk(space, hotel, "Two rooms near the river.")
        await reflect(reflection)
        await talk(space, hotel, "When do we check in?")
        await talk(space, hotel, "And when do we leave?")
        await reflect(reflection)


async def reflect(reflection: Reflection) -> None:
    told = await reflection.once()
    for session in sorted(told, key=lambda session: session.label):
        print(f"insight for {session.label}: {session.insight and session.insight.content}")
    if not told:
        print("no new digest: the model is not asked")


async def talk(space: SpaceService, session: Session, content: str) -> None:
    """A turn, then the digest."""
    turn = await space.send(Send(session_id=session.id, content=content))
    messages = (await space.store.turn_messages([turn.id]))[turn.id]
    print(f"{session.label} < {content}\n{session.label} > {messages[-1].content}")
    await space.consolidate(session.id)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Shows a reflection loop of an application's own.")
    parser.add_argument("--store", help="sqlite:///file.db or neo4j://host:7687; default: a file that goes")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(parser.parse_args().store or f"sqlite:///{Path(folder) / 'reflection.db'}"))
