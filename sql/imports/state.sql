-- purpose: What is stored of the sessions of one imported conversation: their message ids in order, how many they count, and where they end.
-- access: read
-- params: key, prefix
-- returns: key, nextSeq, messageCount, messageIds
-- json: messageIds
SELECT s.key, s.nextSeq, s.messageCount, (
  SELECT json_group_array(id) FROM (SELECT m.id FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = s.key ORDER BY r.seq)) AS messageIds
FROM session AS s
WHERE s.key = :key OR (s.key >= :prefix AND s.key < substr(:prefix, 1, length(:prefix) - 1) || ';');
