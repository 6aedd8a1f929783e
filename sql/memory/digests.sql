-- purpose: A page of the digests of a Space, by key; first of all the number of the Space's last event.
--   Of few changes the index by event number knows the sessions; of many, or all, a page is read in the order of keys.
-- access: read
-- params: space, prefix, after, first, status, changedAfter, columns
-- texts: many
-- returns: eventSeq, digests
-- json: digests
SELECT sp.eventSeq, (
  SELECT json_group_array(json_array(:columns))
  FROM (
    SELECT * FROM (
      SELECT s.id, s.label, s.status, s.memory, s.rollup, s.insight, s.updatedAt, s.eventSeq, s.memorySeq
      FROM session AS s INDEXED BY session_event
      WHERE :changedAfter > 0 AND sp.eventSeq - :changedAfter < 1000 AND s.spaceId = :space AND s.eventSeq > :changedAfter
        AND s.key > :after AND (:status IS NULL OR s.status = :status)
      ORDER BY s.key LIMIT :first)
    UNION ALL SELECT * FROM (
      SELECT s.id, s.label, s.status, s.memory, s.rollup, s.insight, s.updatedAt, s.eventSeq, s.memorySeq
      FROM session AS s
      WHERE (:changedAfter <= 0 OR sp.eventSeq - :changedAfter >= 1000) AND s.eventSeq > :changedAfter
        AND s.key > :after AND s.key >= :prefix AND s.key < substr(:prefix, 1, length(:prefix) - 1) || '0'
        AND (:status IS NULL OR s.status = :status)
      ORDER BY s.key LIMIT :first))) AS digests
FROM space AS sp WHERE sp.id = :space;
