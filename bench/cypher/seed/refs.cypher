UNWIND $rows AS row
MATCH (from:TopologyNode {key: row.from})
MATCH (to:TopologyNode {key: row.to})
CREATE (from)-[:REF {at: row.at, seq: row.seq}]->(to)
