-- purpose: As conversation, with the newest of the messages that the session's digest does not cover.
-- access: read
-- params: space, key, first
-- returns: session.*, space, transcript
-- json: tags, space, transcript
SELECT s.*, json_object('id', sp.id, 'name', sp.name, 'config', sp.config, 'strategy', sp.strategy,
    'createdAt', sp.createdAt) AS space,
  (SELECT json_group_array(json_array(id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError,
      durationMs, model, usage, turnId, createdAt, seq))
    FROM (SELECT * FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
      WHERE r.sk = :key AND r.seq > CASE WHEN trim(coalesce(s.memory, '')) = '' THEN 0 ELSE coalesce(s.memoryThroughSeq, 0) END
      ORDER BY r.seq DESC LIMIT :first) ORDER BY seq)) AS transcript
FROM session AS s JOIN space AS sp ON sp.id = :space WHERE s.key = :key;
