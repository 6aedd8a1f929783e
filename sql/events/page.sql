-- purpose: A page of a Space's events after a number, the oldest first, and the number of its newest event, which is read first.
-- access: read
-- params: space, after, first
-- returns: newest, events
-- json: events
SELECT sp.eventSeq AS newest, (
  SELECT json_group_array(json_object('seq', seq, 'type', type, 'nodeId', nodeId, 'rootId', rootId, 'data', data,
    'messageCount', messageCount, 'at', at))
  FROM (SELECT * FROM topology_event AS e WHERE e.spaceId = :space AND e.seq > :after AND e.seq <= sp.eventSeq
    ORDER BY e.seq LIMIT :first)) AS events
FROM space AS sp WHERE sp.id = :space;
