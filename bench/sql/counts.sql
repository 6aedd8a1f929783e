UPDATE space SET nextRootIndex = 1, sessionCount = :nodes, eventSeq = :nodes WHERE id = :space;
UPDATE session SET (messageCount, nextSeq) = (
  SELECT count(*), count(*) + 1 FROM has_message WHERE sk = session.key)
WHERE key IN (SELECT value FROM json_each(:talks));
