// purpose: The migrations that were applied.
// access: read
// params: none
// returns: version
MATCH (m:Migration)
RETURN collect(m {.version}) AS rows
