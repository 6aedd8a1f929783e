// purpose: Remembers that a migration was applied.
// access: write
// params: version, name
// returns: version
MERGE (m:Migration {version: $version})
SET m.name = $name
RETURN collect(m {.version}) AS rows
