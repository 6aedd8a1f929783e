"""Answers are bounded by their texts, and so is what is read for them."""

import asyncio
from typing import Any

from stello_graph.ports.answers import Answer, answering, current_answer, leave_answer, text_bytes
from tests.unit.graphql.conftest import Api

APPEND = 'mutation ($m: [MessageInput!]!) { appendMessages(sessionId: "a", messages: $m) { id } }'
PAGE = 'query ($n: Int!) { session(id: "a") { messages(last: $n) { nodes { seq content } } } }'


async def planted(api: Api, most: int, *texts: str) -> None:
    """A session of messages; then so many bytes are answered."""
    await api.ask('mutation { createSession(input: {id: "a", label: "Top"}) { id } }')
    if texts:
        await api.ask(APPEND, m=[{"role": "USER", "content": text} for text in texts])
    api.graph.settings.max_answer_bytes = most


async def too_large(api: Api, document: str, **variables: Any) -> str:
    """The message of the refusal, which is the whole answer."""
    error = await api.refused(document, **variables)
    assert (error["code"], error["retryable"]) == ("LIMIT_EXCEEDED", False)
    return str(error["message"])


async def test_texts_of_an_answer(api: Api) -> None:
    """As many bytes of UTF-8 as the setting says are answered, one more is not."""
    await planted(api, 1_000, "x" * 500, "é" * 250, "y")

    found = await api.ask('{ session(id: "a") { messages(first: 2) { nodes { content } } } }')
    assert [len(node["content"]) for node in found["session"]["messages"]["nodes"]] == [500, 250]
    assert "at most 1000 bytes" in await too_large(api, PAGE, n=3)
    assert len((await api.ask(PAGE, n=2))["session"]["messages"]["nodes"]) == 2


async def test_what_is_told_often_counts_often(api: Api) -> None:
    """One text by many names, or below many nodes, is read once and told as often."""
    await planted(api, 1_000)
    await api.ask('mutation($c: String!) { putMemory(sessionId: "a", content: $c) { id } }', c="x" * 300)
    document = "{ %s }"
    await api.ask(document % " ".join(f'a{n}: session(id: "a") {{ memory }}' for n in range(3)))
    await too_large(api, document % " ".join(f'a{n}: session(id: "a") {{ memory }}' for n in range(4)))
    for n in range(4):
        await api.ask(f'mutation {{ createSession(input: {{id: "b{n}", parentId: "a"}}) {{ id }} }}')
    nested = '{ getChildren(parentId: "a") { parent { session { memory } } } }'
    await too_large(api, nested)


async def test_json_counts(api: Api) -> None:
    """Keys and texts of values that are JSON."""
    await planted(api, 1_000)
    await api.ask(
        'mutation($v: JSON!) { putRecord(key: "k", value: $v) { revision } }', v={"k" * 500: ["v" * 480]}
    )
    await api.ask("{ records { value } }")
    await too_large(api, "{ a: records { value } b: records { value } }")


async def test_what_is_read_for_an_answer(api: Api) -> None:
    """Four times as much may be read, what is not told included; the store is not asked for more."""
    await planted(api, 10_000, *["x" * 5_000] * 9)
    count = 'query ($n: Int!) { session(id: "a") { messages(last: $n) { nodes { seq toolCalls { id } } } } }'

    assert len((await api.ask(count, n=5))["session"]["messages"]["nodes"]) == 5
    assert "four times" in await too_large(api, count, n=8)
    await too_large(
        api,
        '{ a: session(id: "a") { messages(first: 4) { nodes { seq toolCalls { id } } } } '
        'b: session(id: "a") { messages(last: 4) { nodes { seq toolCalls { id } } } } }',
    )


async def test_what_nobody_asks_for_is_not_read(api: Api) -> None:
    """Of messages whose places alone are asked for, the contents count nothing."""
    await planted(api, 10_000, *["x" * 5_000] * 9)

    page = await api.ask('{ session(id: "a") { messages(last: 9) { nodes { seq } } } }')

    assert [one["seq"] for one in page["session"]["messages"]["nodes"]] == [*range(1, 10)]


async def test_a_mutation_is_done_nevertheless(api: Api) -> None:
    """Its answer is refused and says so."""
    await planted(api, 1_000, "x" * 2_000)
    document = (
        'mutation { putMemory(sessionId: "a", content: "new") { memory messages { nodes { content } } } }'
    )

    assert "done nevertheless" in await too_large(api, document)
    assert (await api.ask('{ session(id: "a") { memory } }'))["session"]["memory"] == "new"


async def test_each_result_of_a_stream_has_its_own(api: Api) -> None:
    """A subscription tells more than one answer may hold, result by result; one that is too large is refused."""
    await planted(api, 1_000)
    document = "subscription { topologyEvents(after: 0) { type node { label session { memory } } } }"
    for n in range(5):
        await api.ask(
            'mutation($l: String!) { updateSession(id: "a", input: {label: $l}) { id } }', l=f"{n}" * 150
        )
    await api.ask('mutation($c: String!) { putMemory(sessionId: "a", content: $c) { id } }', c="m" * 800)
    told = await api.follow(document, 7)
    assert [result.errors for result in told] == [None] * 7
    await api.ask('mutation($c: String!) { putMemory(sessionId: "a", content: $c) { id } }', c="m" * 1_000)
    (first, *_) = await api.follow(document, 2)
    assert first.data is None
    assert first.errors[0].extensions["code"] == "LIMIT_EXCEEDED"


async def test_a_turn_reads_for_itself() -> None:
    """What began in an answer's context and leaves it counts nothing, nor does what is there after its end."""
    with answering(10) as answer:

        async def turn() -> Answer | None:
            leave_answer()
            return current_answer()

        async def later(over: asyncio.Event) -> Answer | None:
            await over.wait()
            return current_answer()

        over = asyncio.Event()
        waiting = asyncio.create_task(later(over))
        assert await asyncio.create_task(turn()) is None
        assert current_answer() is answer
        await asyncio.sleep(0)
    assert current_answer() is None
    over.set()
    assert await waiting is None


def test_bytes_of_texts() -> None:
    """UTF-8 of all strings, keys too; numbers take nothing."""
    assert text_bytes("aé字🚀") == 1 + 2 + 3 + 4
    assert text_bytes({"ab": [1, None, "c", {"d": "é"}], "e": 2.5}) == 2 + 1 + 1 + 2 + 1
    assert text_bytes(["é", None, "a", ["b", None], {"c": "字"}]) == 2 + 1 + 1 + 1 + 3
    assert text_bytes("\ud800") == 3
