-- purpose: What is stored of the sessions of imported conversations: their message ids in order, how many they count, and where they end.
-- access: read
-- params: keys
-- returns: conversation, key, nextSeq, messageCount, messageIds
-- json: messageIds
SELECT v.value AS conversation, s.key, s.nextSeq, s.messageCount, (
  SELECT json_group_array(id) FROM (SELECT m.id FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = s.key ORDER BY r.seq)) AS messageIds
FROM json_each(:keys) AS v JOIN session AS s ON s.key = v.value OR (s.key >= v.value || ':' AND s.key < v.value || ';');
