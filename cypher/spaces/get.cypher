// purpose: One Space.
// access: read
// params: id
// returns: space.*
MATCH (sp:Space {id: $id})
RETURN collect(sp {.*}) AS rows
