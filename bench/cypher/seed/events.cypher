UNWIND $rows AS row
CREATE (:TopologyEvent {key: row.eventKey, spaceId: $space, seq: row.eventSeq, type: 'SESSION_CREATED', nodeId: row.id,
  rootId: row.rootId, data: row.data, at: row.at})
