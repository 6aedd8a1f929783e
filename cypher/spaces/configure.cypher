// purpose: Writes name, strategy and configuration of a Space; no row where they were changed since that revision.
// access: write
// params: id, revision, name, strategy, config
// returns: space.*
MATCH (sp:Space {id: $id})
SET sp.lock = randomUUID()
WITH sp WHERE sp.revision = $revision
SET sp.name = $name, sp.strategy = $strategy, sp.config = $config, sp.revision = sp.revision + 1
RETURN collect(sp {.*}) AS rows
