MATCH (a:TopologyNode)
USING INDEX SEEK a:TopologyNode(parentKey, index)
WHERE a.parentKey = $key AND a.index > -1
WITH a ORDER BY a.parentKey, a.index
RETURN collect(a {.id, .label, .status, .childCount, .turnCount, children: COLLECT {
  MATCH (b:TopologyNode)
  USING INDEX SEEK b:TopologyNode(parentKey, index)
  WHERE b.parentKey = a.key AND b.index > -1
  WITH b ORDER BY b.parentKey, b.index
  RETURN b {.id, .label, .status, .childCount, .turnCount, children: COLLECT {
    MATCH (c:TopologyNode)
    USING INDEX SEEK c:TopologyNode(parentKey, index)
    WHERE c.parentKey = b.key AND c.index > -1
    WITH c ORDER BY c.parentKey, c.index
    RETURN c {.id, .label, .status, .childCount, .turnCount}
  }}
}}) AS rows
