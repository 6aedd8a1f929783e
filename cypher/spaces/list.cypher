// purpose: A page of the Spaces, by id.
// access: read
// params: after, first
// texts: many
// returns: space.*
MATCH (sp:Space) WHERE sp.id > $after
WITH sp ORDER BY sp.id LIMIT $first
RETURN collect(sp {.*}) AS rows
