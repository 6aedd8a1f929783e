-- purpose: As conversation, with the whole transcript whatever was compressed.
-- access: read
-- params: space, key
-- returns: session.*, space, transcript
-- json: tags, space, transcript
SELECT s.*, json_object('id', sp.id, 'name', sp.name, 'config', sp.config, 'strategy', sp.strategy,
    'createdAt', sp.createdAt) AS space,
  (SELECT json_group_array(json_array(id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError,
      durationMs, model, usage, turnId, createdAt, seq))
    FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
      WHERE r.sk = :key AND r.seq > 0 ORDER BY r.seq)) AS transcript
FROM session AS s JOIN space AS sp ON sp.id = :space WHERE s.key = :key;
