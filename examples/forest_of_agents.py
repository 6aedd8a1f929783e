"""A forest of agents: one MAIN session, the children that its model opens, and what goes between them.

Run it with `python examples/forest_of_agents.py [--store URL]`. It needs no network: a scripted model plays
the real one. What it prints is told in docs/forest.md.
"""

import argparse
import asyncio
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from stello_graph import Settings, SpaceService, StelloGraph, Tool, ToolContext, build
from stello_graph.errors import StelloError
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.context import ContextOrigin, ModelRequest, Reply, ReplyStop
from stello_graph.model.message import MessageRole, ToolCall
from stello_graph.model.requests import CreateSession, Fork, Send, SpaceChanges
from stello_graph.model.session import Session
from stello_graph.model.values import ForkContext, SessionRole, SessionStatus
from stello_graph.model.writes import SessionFilter

PLANNER = "You plan a trip. Open a conversation for each part of it."
HELPER = "You help to plan a trip. Your part:"
DIGEST, SUMMARY, SYNTHESIS = "Write the digest.", "Write the summary.", "Write the synthesis."


QUESTIONS = {
    "Beach": "Which beach is calm?",
    "Budget": "What may a day cost?",
    "Flights": "Which flight do we take?",
    "Food": "Where do we eat on the first evening?",
    "Hotel": "Please book two rooms.",
    "Museums": "Which museum suits children?",
}
FACTS = {
    "Beach": "Carcavelos, in the morning",
    "Budget": "200 euros a day",
    "Flights": "Friday, landing at 21:40",
    "Food": "The market hall, which closes at 22:00",
    "Museums": "The aquarium, closed on Mondays",
}
HINTS = {
    "Food": "The flight lands at 21:40: the market hall is no place for Friday.",
    "Hotel": "The flight lands at 21:40: tell the hotel that you come late.",
    "Museums": "200 euros a day: buy the family ticket.",
}


# Two tools of the application: the docstrings and types are what the model is told.


async def look_up(topic: str) -> str:
    """Looks a topic up in the guide."""
    return FACTS[topic]


async def book(rooms: int, context: ToolContext) -> str:
    """Books hotel rooms. This costs money, so each call waits until somebody confirms it."""
    await context.space.put_record("booked", {"rooms": rooms})
    return f"{rooms} rooms near the river, booked"


TOOLS = [Tool(look_up), Tool(book, needs_confirmation=True)]


# The model. It decides by what it is shown, as a real one does; with a real one, leave all of this out.


def model(request: ModelRequest) -> Step:
    """Does the tasks of the Space by their prompts, and takes the turns of everybody else."""
    prompt, given = request.messages[0].content, request.messages[-1].content
    if prompt == DIGEST:
        return f"{settled(given)}."
    if prompt == SUMMARY:
        return f"Settled: {settled(given)}"
    if prompt == SYNTHESIS:
        return integrated(given)
    return plan(request) if prompt == PLANNER else answer(request)


def plan(request: ModelRequest) -> Step:
    """The planner's turn: it opens a child for each topic, and tells what it knows by then."""
    if known := slot(request, ContextOrigin.SYNTHESIS):
        return known
    opened = [json.loads(message.content)["label"] for message in request.messages if message.role == "tool"]
    if opened:
        return f"I opened {', '.join(opened)}."
    return calls(
        ("stello_create_session", {"label": label, "systemPrompt": f"{HELPER} {label}.", "prompt": "Ask me."})
        for label in QUESTIONS
    )


def answer(request: ModelRequest) -> Step:
    """A child's turn: it asks a tool first, then remembers what came of it."""
    said = request.messages[-1]
    if said.role == "tool":
        return f"Settled: {said.content}"
    for label, question in QUESTIONS.items():
        if said.content == question:
            return calls([("book", {"rooms": 2}) if label == "Hotel" else ("look_up", {"topic": label})])
    if hint := slot(request, ContextOrigin.INSIGHT):
        return f"I was told: {hint}"
    return "Still: " + settled("\n".join(message.content for message in request.messages))


def calls(asked: Any) -> Reply:
    """A reply that calls tools: pairs of a name and arguments."""
    made = [ToolCall(id=f"call_{n}", name=name, arguments=given) for n, (name, given) in enumerate(asked)]
    return Reply(text="", tool_calls=tuple(made), stop=ReplyStop.TOOL_USE, model="scripted")


def integrated(digests: str) -> str:
    """The synthesis of lines of the form `[sessionId=ID] label: digest`, and the hints for some of them."""
    found = sorted(
        re.findall(r"^\[sessionId=(\S+)\] (\w+): (.+)$", digests, re.MULTILINE), key=lambda f: f[1]
    )
    insights = [{"sessionId": id, "content": HINTS[label]} for id, label, _ in found if label in HINTS]
    return json.dumps({"synthesis": " ".join(digest for *_, digest in found), "insights": insights})


def settled(text: str) -> str:
    """What a conversation came to."""
    found: list[str] = re.findall(r"Settled: (.+)", text)
    return found[-1]


def slot(request: ModelRequest, origin: ContextOrigin) -> str | None:
    """What one slot of the request holds."""
    return next((message.content for message in request.messages if message.origin is origin), None)


# The application.


async def main(store: str) -> None:
    llm = ScriptedLLM(default=model)
    async with build(Settings(store=store), llm=llm, tools=TOOLS) as graph:
        space = await prepared(graph)
        trip = await open_children(space)
        children = await sessions_of(space, trip)
        await take_turns(space, children)
        await integrate(space, trip, children)
        await deliver(space, llm, children)
        await compress_and_fork(space, llm, children["Hotel"])
        await archive(space, children["Beach"])
        await draw(space, trip)


async def prepared(graph: StelloGraph) -> SpaceService:
    """A Space of its own, where the model may open as many children as it likes."""
    await graph.store.ensure_space("forest-of-agents", "A forest of agents")
    space = graph.space("forest-of-agents")
    await space.configure(
        SpaceChanges(
            split_guard={"min_turns": 0, "cooldown_turns": 0},
            consolidate_prompt=DIGEST,
            compress_prompt=SUMMARY,
            integrate_prompt=SYNTHESIS,
        )
    )
    return space


async def open_children(space: SpaceService) -> Session:
    print("1. The model of a MAIN session opens six children")
    trip = await space.create_session(
        CreateSession(label="Trip", role=SessionRole.MAIN, system_prompt=PLANNER)
    )
    await say(space, trip, "A week in Lisbon, for the four of us.")
    return trip


async def take_turns(space: SpaceService, children: dict[str, Session]) -> None:
    print("\n2. Each child takes two turns, the first with a tool")
    for label, child in children.items():
        await say(space, child, QUESTIONS[label])
        await say(space, child, "Is that settled?")


async def integrate(space: SpaceService, trip: Session, children: dict[str, Session]) -> None:
    print("\n3. Each is distilled, and MAIN integrates the digests")
    for label, child in children.items():
        print(f"   {label}: {(await space.consolidate(child.id)).memory}")
    labels = {child.id: label for label, child in children.items()}
    made = await space.integrate(trip.id)
    print(f"   the synthesis: {made.synthesis}")
    print(f"   insights for {', '.join(sorted(labels[insight.session_id] for insight in made.insights))}")
    again = await space.integrate(trip.id)
    print(f"   once more, with no new digest: the model is {'asked' if again.called else 'not asked'}")
    await say(space, trip, "What do we have so far?")


async def deliver(space: SpaceService, llm: ScriptedLLM, children: dict[str, Session]) -> None:
    print("\n4. Each insight is shown once")
    for label, hint in HINTS.items():
        child = children[label]
        before = await pending(space, child)
        await say(space, child, "Anything new?")
        await say(space, child, "Is that settled?")
        shown = sum(slot(request, ContextOrigin.INSIGHT) == hint for request in llm.requests)
        after = await pending(space, child)
        print(f"   preview before: {before}; requests with it: {shown}; preview after: {after}")


async def pending(space: SpaceService, session: Session) -> str:
    preview = await space.preview(session.id, "Anything new?")
    return "shown" if ContextOrigin.INSIGHT in [part.origin for part in preview.messages] else "not shown"


async def compress_and_fork(space: SpaceService, llm: ScriptedLLM, hotel: Session) -> None:
    print("\n5. The hotel's conversation is compressed, and forked with a summary as its context")
    compression = (await space.compact(hotel.id, keep_last=2)).compression
    print(f"   the summary: {compression and compression.summary}")
    await say(space, hotel, "Is that settled?")
    print(f"   the request: {', '.join(part.origin for part in llm.requests[-1].messages)}")
    cot = await space.fork(
        Fork(source_session_id=hotel.id, parent_id=hotel.id, label="A cot", context=ForkContext.COMPRESS)
    )
    await say(space, cot, "Is that settled?")
    print(f"   its prompt: {' '.join(str(cot.system_prompt).split())}")


async def archive(space: SpaceService, beach: Session) -> None:
    print("\n6. One is archived, and takes no turn any more")
    await space.archive(beach.id)
    try:
        await say(space, beach, "Is that settled?")
    except StelloError as error:
        print(f"   refused: {error.code}")


async def draw(space: SpaceService, trip: Session) -> None:
    print("\n7. The forest")
    node = (await space.store.nodes([trip.id]))[trip.id]
    print(f"   {node.label}: {node.turn_count} turns, MAIN")
    await draw_below(space, trip.id, "     ")
    print("\n8. What the orchestrator knows")
    which = SessionFilter(root_id=trip.id, status=SessionStatus.ACTIVE)
    page = await space.store.digests(which, changed_after=0, after="", first=100)
    for digest in sorted(page.digests, key=lambda digest: digest.label):
        print(f"   {digest.label}: {digest.memory or 'no digest'}")


async def draw_below(space: SpaceService, parent_id: str, indent: str) -> None:
    found = await space.store.children([parent_id], after=-1, first=100)
    for node in sorted(found[parent_id] or [], key=lambda node: node.label):
        archived = ", archived" if node.status is SessionStatus.ARCHIVED else ""
        print(f"{indent}{node.label}: {node.turn_count} turn{'s' * (node.turn_count != 1)}{archived}")
        await draw_below(space, node.id, f"{indent}  ")


async def sessions_of(space: SpaceService, parent: Session) -> dict[str, Session]:
    """The children by label: the model's calls ran side by side, in whatever order."""
    nodes = (await space.store.children([parent.id], after=-1, first=100))[parent.id] or []
    found = await space.store.sessions([node.id for node in nodes])
    return {child.label: child for child in sorted(found.values(), key=lambda child: child.label)}


async def say(space: SpaceService, session: Session, content: str) -> None:
    """One turn, to its end; whatever waits for a confirmation gets it."""
    turn = await space.send(Send(session_id=session.id, content=content))
    print(f"   {session.label} < {content}")
    for call in turn.pending_tool_calls:
        await space.confirm(turn.id, call.id, approve=True)
    async for _ in space.turn_events(turn.id):
        pass  # up to the end: a confirmed turn goes on in the background
    for message in (await space.store.turn_messages([turn.id]))[turn.id]:
        for call in message.tool_calls:
            approved = ", approved" if call in turn.pending_tool_calls else ""
            print(f"   {session.label} * {call.name} {json.dumps(call.arguments)}{approved}")
        if message.role is MessageRole.ASSISTANT and message.content:
            print(f"   {session.label} > {message.content}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Tells the story of a forest of agents.")
    parser.add_argument("--store", help="sqlite:///file.db or neo4j://host:7687; default: a file that goes")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(parser.parse_args().store or f"sqlite:///{Path(folder) / 'forest.db'}"))
