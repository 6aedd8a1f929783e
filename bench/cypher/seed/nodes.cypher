UNWIND $rows AS row
CREATE (s:Session {key: row.key, spaceId: $space, id: row.id, rootId: row.rootId, label: row.label, labelTerms: row.terms,
  role: 'STANDARD', status: 'ACTIVE', strategy: 'TREE', tags: [], metadata: '{}', memory: row.memory,
  memoryRevision: CASE WHEN row.memory IS NULL THEN 0 ELSE 1 END, insightRevision: 0, turnCount: row.turnCount,
  messageCount: 0, nextSeq: 1, lastTurnNumber: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0,
  cacheWriteTokens: 0, llmCalls: 0, createdAt: row.at, updatedAt: row.at, lastActiveAt: row.at, eventSeq: row.eventSeq})
CREATE (n:TopologyNode {key: row.key, spaceId: $space, id: row.id, parentId: row.parentId, parentKey: row.parentKey,
  rootId: row.rootId, label: row.label, status: 'ACTIVE', role: 'STANDARD', strategy: 'TREE', depth: row.depth,
  index: row.index, nextIndex: row.childCount, childCount: row.childCount, turnCount: row.turnCount,
  createdAt: row.at, lastActiveAt: row.at})
