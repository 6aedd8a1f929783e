UNWIND $rows AS row
MATCH (n:TopologyNode {key: row.key})
MATCH (p:TopologyNode {key: row.parentKey})
CREATE (n)-[:PARENT]->(p)
