// purpose: The newest keys of a range, the revoked ones too, in descending order.
// access: read
// params: prefix, end, first
// returns: key.*
MATCH (k:ApiKey)
WHERE k.key >= $prefix AND k.key < $end
WITH k ORDER BY k.key DESC LIMIT $first
RETURN collect(k {.*}) AS rows
