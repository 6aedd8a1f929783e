-- purpose: Open turns of all Spaces whose lease ran out, the oldest first.
-- access: read
-- params: first
-- returns: spaceId, id
SELECT t.spaceId, t.id FROM turn AS t WHERE t.leaseUntil < (SELECT now FROM clock) ORDER BY t.leaseUntil LIMIT :first;
