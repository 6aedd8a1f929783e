MATCH (n:TopologyNode)
USING INDEX SEEK n:TopologyNode(parentKey, index)
WHERE n.parentKey = $key AND n.index > -1
WITH n ORDER BY n.parentKey, n.index LIMIT 100
RETURN collect(n {.id, .label, .status, .childCount, .turnCount}) AS rows
