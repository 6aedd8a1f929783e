-- purpose: As digests, for one tree.
-- access: read
-- params: space, rootId, after, first, status, changedAfter, columns
-- texts: many
-- returns: eventSeq, digests
-- json: digests
SELECT sp.eventSeq, (
  SELECT json_group_array(json_array(:columns))
  FROM (SELECT s.id, s.label, s.status, s.memory, s.rollup, s.insight, s.updatedAt, s.eventSeq, s.memorySeq FROM session AS s
    WHERE s.spaceId = :space AND s.rootId = :rootId AND s.key > :after
      AND (:status IS NULL OR s.status = :status) AND s.eventSeq > :changedAfter
    ORDER BY s.key LIMIT :first)) AS digests
FROM space AS sp WHERE sp.id = :space;
