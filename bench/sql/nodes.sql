INSERT INTO session (key, spaceId, id, rootId, label, role, status, strategy, tags, metadata, turnCount, messageCount,
  nextSeq, eventSeq, createdAt, updatedAt, lastActiveAt)
VALUES (:key, :space, :id, :rootId, :label, 'STANDARD', 'ACTIVE', 'TREE', '[]', '{}', :turnCount, 0, 1, :eventSeq,
  :at, :at, :at);
INSERT INTO topology_node (key, spaceId, id, parentId, parentKey, rootId, label, status, role, strategy, depth, "index",
  nextIndex, childCount, turnCount, createdAt, lastActiveAt)
VALUES (:key, :space, :id, :parentId, :parentKey, :rootId, :label, 'ACTIVE', 'STANDARD', 'TREE', :depth, :index,
  :childCount, :childCount, :turnCount, :at, :at);
INSERT INTO searchable (key, scope, terms) VALUES (:key, 'LABEL', :terms);
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
VALUES (:eventKey, :space, :eventSeq, 'SESSION_CREATED', :id, :data, :at);
