-- purpose: All that compiling a session's context needs: session, Space, the transcript that no compression covers, the index of
--   shared memory where the Space has it on, and the skills.
-- access: read
-- params: space, key
-- returns: session.*, space, transcript, sharedMemories, storedSkills
-- json: tags, space, transcript, sharedMemories, storedSkills
SELECT s.*, json_object('id', sp.id, 'name', sp.name, 'config', sp.config, 'strategy', sp.strategy,
    'createdAt', sp.createdAt) AS space,
  (SELECT json_group_array(json_array(id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError,
      durationMs, model, usage, turnId, createdAt, seq))
    FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
      WHERE r.sk = :key AND r.seq > coalesce(s.compressionThroughSeq, 0) ORDER BY r.seq)) AS transcript,
  (SELECT json_group_array(json_object('id', id, 'summary', summary, 'updatedAt', updatedAt))
    FROM (SELECT n.id, n.summary, n.updatedAt FROM shared_memory AS n JOIN space AS sp ON sp.id = n.spaceId
      WHERE n.spaceId = :space AND json_extract(sp.config, '$.sharedMemory') ORDER BY n.place)) AS sharedMemories,
  (SELECT json_group_array(json_object('id', id, 'description', description))
    FROM (SELECT n.id, n.description FROM skill AS n WHERE n.spaceId = :space ORDER BY n.place)) AS storedSkills
FROM session AS s JOIN space AS sp ON sp.id = :space WHERE s.key = :key;
