// purpose: The ids of Spaces that were deleted and are not swept yet.
// access: read
// params: first
// returns: id
MATCH (gone:DeletedSpace) WHERE gone.id > ''
WITH gone ORDER BY gone.id LIMIT $first
RETURN collect({id: gone.id}) AS rows
