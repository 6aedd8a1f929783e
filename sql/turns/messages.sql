-- purpose: What each turn wrote and its session still has, oldest first.
-- access: read
-- params: keys
-- texts: many
-- shared: keys
-- returns: key, messages
-- json: messages
SELECT t.key, (
  SELECT json_group_array(json_array(id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError,
      durationMs, model, usage, turnId, createdAt, seq))
  FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = t.sk AND r.seq >= t.firstSeq AND r.seq <= t.lastSeq ORDER BY r.seq)) AS messages
FROM json_each(:keys) AS k JOIN turn AS t ON t.key = k.value;
