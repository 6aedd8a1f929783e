// purpose: The numbers of the newest events of several Spaces.
// access: read
// params: spaces
// returns: spaceId, newest
UNWIND $spaces AS id
MATCH (sp:Space {id: id})
RETURN collect({spaceId: sp.id, newest: sp.eventSeq}) AS rows
