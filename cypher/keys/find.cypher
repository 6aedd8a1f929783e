// purpose: The keys with these hashes that are not revoked.
// access: read
// params: hashes
// returns: key.*
UNWIND $hashes AS hash
MATCH (k:ApiKey {hash: hash})
WHERE k.revokedAt IS NULL
RETURN collect(k {.*}) AS rows
