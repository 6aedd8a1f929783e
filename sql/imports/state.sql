-- purpose: What is stored of sessions that an import names: their message ids in order, and where they end.
-- access: read
-- params: keys
-- returns: key, nextSeq, messageIds
-- json: messageIds
SELECT s.key, s.nextSeq, (
  SELECT json_group_array(id) FROM (SELECT m.id FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = s.key ORDER BY r.seq)) AS messageIds
FROM json_each(:keys) AS k JOIN session AS s ON s.key = k.value;
