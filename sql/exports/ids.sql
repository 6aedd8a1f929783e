-- purpose: A page of the ids of a Space's sessions, by key.
-- access: read
-- params: prefix, after, first
-- returns: id
SELECT s.id FROM session AS s
WHERE s.key > :after AND s.key >= :prefix AND s.key < substr(:prefix, 1, length(:prefix) - 1) || '0'
ORDER BY s.key LIMIT :first;
