"""Our own statements, run as in a bare script: one managed transaction each."""

from typing import Any

from neo4j import AsyncDriver, AsyncManagedTransaction

from bench.forest import fork_source, turn_session
from stello_graph.ids import new_id
from stello_graph.store.indexing import label_terms, message_terms
from stello_graph.store.queries import QueryText, load

__all__ = ["RawWrites"]

_USAGE = {"inputTokens": 10, "outputTokens": 5, "cacheReadTokens": 0, "cacheWriteTokens": 0, "llmCalls": 1}
_USAGE_TEXT = '{"inputTokens":10,"outputTokens":5,"cacheReadTokens":0,"cacheWriteTokens":0,"llmCalls":1}'
_NO_USAGE = dict.fromkeys(_USAGE, 0)
_QUESTION = "What was the first star called?"
_REPLY = "It was called the first one."
_LABEL = "Fork"
_OVERRIDES = dict.fromkeys(
    (
        "overrideModel",
        "overrideConsolidatePrompt",
        "overrideIntegratePrompt",
        "overrideCompressPrompt",
        "overrideRoleContext",
    )
)


class RawWrites:
    """Writes to the Space of the benchmark."""

    def __init__(self, driver: AsyncDriver, database: str | None, space: str) -> None:
        self._driver = driver
        self._database = database
        self._space = space
        texts = load("cypher")
        self._begin, self._end, self._fork = (
            texts[name] for name in ("turns/begin", "turns/end", "sessions/fork")
        )
        self._terms = {
            content: message_terms(space, role, content)
            for role, content in (("USER", _QUESTION), ("ASSISTANT", _REPLY))
        }
        self._label_terms = label_terms(space, _LABEL)

    async def turn(self, number: int) -> None:
        """Two writes: begin and end of a turn."""
        id, turn_id = turn_session(number), new_id()
        target = {"space": self._space, "key": self._key(id), "id": id, "turnKey": self._key(turn_id)}
        begun = await self._write(
            self._begin,
            **target,
            turnId=turn_id,
            message=self._message(id, turn_id, "USER", _QUESTION),
            lease=20_000_000,
            maxToolRounds=None,
            idempotencyKey=None,
            inputHash=None,
        )
        _expect(begun, "BEGUN")
        reply = self._message(id, turn_id, "ASSISTANT", _REPLY)
        ended = await self._write(
            self._end,
            **target,
            **self._event(),
            consumedKey=self._key(new_id()),
            fence=1,
            closing=False,
            lastSeq=begun[0]["turn"]["lastSeq"],
            status="COMPLETED",
            stopReason="END_TURN",
            error=None,
            toolRounds=0,
            messages=[reply | {"model": "scripted", "usage": _USAGE_TEXT}],
            usage=_USAGE_TEXT,
            callUsage=_USAGE,
            completed=True,
            data=f'{{"turnId":"{turn_id}","status":"COMPLETED"}}',
        )
        _expect(ended, "DONE")

    async def fork(self, number: int) -> None:
        """One write: a fork without context."""
        source, id = fork_source(number), new_id()
        forked = await self._write(
            self._fork,
            **self._event(),
            space=self._space,
            key=self._key(id),
            id=id,
            sourceKey=self._key(source),
            sourceId=source,
            parentKey=self._key(source),
            parentId=source,
            throughSeq=None,
            inherits=False,
            label=_LABEL,
            labelTerms=self._label_terms,
            systemPrompt=None,
            skills=None,
            tags=[],
            metadata="{}",
            overrides=_OVERRIDES,
            messages=[],
            minTurns=None,
            cooldownTurns=None,
            usage=_NO_USAGE,
            idempotencyKey=None,
            inputHash=None,
            data=f'{{"parentId":"{source}","sourceSessionId":"{source}","sourceSeq":null,"label":"{_LABEL}"}}',
        )
        _expect(forked, "DONE")

    async def _write(self, text: QueryText, **params: Any) -> list[dict[str, Any]]:
        wrong = params.keys() ^ text.query.params
        assert not wrong, f"{text.query.name} has changed: {wrong}"

        async def work(transaction: AsyncManagedTransaction) -> list[dict[str, Any]]:
            record = await (await transaction.run(text.statements[0], params)).single(strict=True)
            rows: list[dict[str, Any]] = record["rows"]
            return rows

        async with self._driver.session(database=self._database) as session:
            return await session.execute_write(work)

    def _event(self) -> dict[str, str]:
        op = new_id()
        return {"op": op, "eventKey": self._key(op)}

    def _message(self, session_id: str, turn_id: str, role: str, content: str) -> dict[str, Any]:
        id = new_id()
        return {
            "key": self._key(id),
            "id": id,
            "sessionId": session_id,
            "role": role,
            "content": content,
            "parts": None,
            "state": "COMPLETE",
            "toolCalls": None,
            "toolCallId": None,
            "toolName": None,
            "isError": False,
            "durationMs": None,
            "model": None,
            "usage": None,
            "turnId": turn_id,
            "createdAt": None,
            "terms": self._terms[content],
        }

    def _key(self, id: str) -> str:
        return f"{self._space}/{id}"


def _expect(rows: list[dict[str, Any]], outcome: str) -> None:
    if [row["outcome"] for row in rows] != [outcome]:
        raise RuntimeError(f"expected {outcome}, got {rows}")
