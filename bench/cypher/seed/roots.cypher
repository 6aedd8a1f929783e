MATCH (sp:Space {id: $space})
SET sp.nextRootIndex = size($rows), sp.sessionCount = $count, sp.eventSeq = $count
WITH sp
UNWIND $rows AS row
MATCH (n:TopologyNode {key: row.key})
CREATE (n)-[:ROOT_OF]->(sp)
