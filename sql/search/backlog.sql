-- purpose: What was stored before there were terms and waits for them, in any order.
-- access: read
-- params: first
-- returns: key, kind, label, memory, role, content
SELECT u.key, u.kind, s.label, s.memory, m.role, m.content
FROM unindexed AS u LEFT JOIN session AS s ON u.kind = 'SESSION' AND s.key = u.key
  LEFT JOIN message AS m ON u.kind = 'MESSAGE' AND m.key = u.key
LIMIT :first;
