// purpose: What is found in labels, digests and messages, best first: labels before digests before messages, the newest first.
//   A scope whose expression is null is not asked. A shared message counts once: for the session that it was written in, else the oldest.
// access: read
// params: prefix, label, memory, message, exact, rootId, candidates, first
// texts: many
// returns: scope, score, sessionId, text, message
CALL () {
  WITH $label AS asked WHERE asked IS NOT NULL
  CALL db.index.fulltext.queryNodes('search_label', asked, {limit: $candidates}) YIELD node
  WITH node WHERE node.key STARTS WITH $prefix AND ($rootId IS NULL OR node.rootId = $rootId)
  RETURN 'LABEL' AS scope, node, CASE node.labelTerms WHEN $exact THEN 4 ELSE 3 END AS score, node.lastActiveAt AS at
  UNION ALL
  WITH $memory AS asked WHERE asked IS NOT NULL
  CALL db.index.fulltext.queryNodes('search_memory', asked, {limit: $candidates}) YIELD node
  WITH node WHERE node.key STARTS WITH $prefix AND ($rootId IS NULL OR node.rootId = $rootId)
  RETURN 'MEMORY' AS scope, node, 2 AS score, node.lastActiveAt AS at
  UNION ALL
  WITH $message AS asked WHERE asked IS NOT NULL
  CALL db.index.fulltext.queryNodes('search_message', asked, {limit: $candidates}) YIELD node
  WITH node WHERE node.key STARTS WITH $prefix
    AND ($rootId IS NULL OR EXISTS { (s:Session)-[:HAS_MESSAGE]->(node) WHERE s.rootId = $rootId })
  RETURN 'MESSAGE' AS scope, node, 1 AS score, node.createdAt AS at
}
WITH scope, node, score, at ORDER BY score DESC, at DESC, node.key DESC LIMIT $first
CALL (scope, node) {
  WITH scope, node WHERE scope <> 'MESSAGE'
  RETURN node.id AS sessionId, CASE scope WHEN 'LABEL' THEN node.label ELSE node.memory END AS text, null AS message
  UNION ALL
  WITH scope, node WHERE scope = 'MESSAGE'
  MATCH (s:Session)-[r:HAS_MESSAGE]->(node)
  WHERE $rootId IS NULL OR s.rootId = $rootId
  WITH node, s, r ORDER BY s.id <> node.sessionId, s.key, r.seq LIMIT 1
  RETURN s.id AS sessionId, null AS text, node {.id, .sessionId, .role, .content, .parts, .state, .toolCalls, .toolCallId, .toolName,
    .isError, .durationMs, .model, .usage, .turnId, .createdAt, seq: r.seq} AS message
}
WITH scope, score, at, node, sessionId, text, message ORDER BY score DESC, at DESC, node.key DESC
RETURN collect({scope: scope, score: score, sessionId: sessionId, text: text, message: message}) AS rows
