-- purpose: Keeps the newest messages of a session, whole tool groups only. The delete-lock comes first.
-- access: write
-- params: space, key, id, op, eventKey, data, keepLast
-- returns: outcome, turnId, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN status = 'ARCHIVED' THEN 'ARCHIVED'
    WHEN openTurnId IS NOT NULL THEN 'BUSY'
    WHEN start <= nextSeq - messageCount THEN 'SAME'
    ELSE 'DONE' END, now, start
  FROM (SELECT clock.now, s.*, CASE WHEN :keepLast = 0 THEN s.nextSeq ELSE coalesce(
      (SELECT r.seq FROM has_message AS r JOIN message AS m ON m.key = r.mk
        WHERE r.sk = :key AND r.seq <= s.nextSeq - :keepLast AND m.role <> 'TOOL' ORDER BY r.seq DESC LIMIT 1), 0) END AS start
    FROM clock JOIN session AS s ON s.key = :key);
UPDATE session SET messageCount = nextSeq - (SELECT seq FROM decision), updatedAt = (SELECT now FROM decision),
  compressionSummary = NULL, compressionThroughSeq = NULL, compressionTokens = NULL, compressionAt = NULL,
  eventSeq = (SELECT eventSeq + 1 FROM space WHERE id = :space)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
DELETE FROM has_message WHERE sk = :key AND seq < (SELECT seq FROM decision WHERE outcome = 'DONE');
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, messageCount, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SESSION_UPDATED', :id, :data, (SELECT messageCount FROM session WHERE key = :key), d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT d.outcome, s.openTurnId AS turnId, s.* FROM decision AS d JOIN session AS s ON s.key = :key;
