-- purpose: A page of the digests of a Space, by key; first of all the number of the Space's last event.
-- access: read
-- params: space, prefix, after, first, status, changedAfter
-- returns: eventSeq, digests
-- json: digests
SELECT sp.eventSeq, (
  SELECT json_group_array(json_object('id', id, 'label', label, 'status', status, 'memory', memory, 'rollup', rollup,
    'insight', insight, 'updatedAt', updatedAt, 'eventSeq', eventSeq, 'memorySeq', coalesce(memorySeq, 0)))
  FROM (SELECT s.id, s.label, s.status, s.memory, s.rollup, s.insight, s.updatedAt, s.eventSeq, s.memorySeq FROM session AS s
    WHERE s.key > :after AND s.key >= :prefix AND s.key < substr(:prefix, 1, length(:prefix) - 1) || '0'
      AND (:status IS NULL OR s.status = :status) AND s.eventSeq > :changedAfter
    ORDER BY s.key LIMIT :first)) AS digests
FROM space AS sp WHERE sp.id = :space;
