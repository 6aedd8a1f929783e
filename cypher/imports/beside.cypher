// purpose: Creates what a Space holds beside its sessions, as an export has it and in its order; what is there stays as it is.
// access: write
// params: space, op, records, sharedMemories, skills, profiles
// returns: outcome
MATCH (sp:Space {id: $space})
SET sp.lock = $op
WITH sp WHERE sp.lock IS NOT NULL
WITH sp, CASE WHEN sp.receipts CONTAINS $op THEN 'DONE_BEFORE' ELSE 'DONE' END AS outcome, coalesce(sp.nextPlace, 0) AS place
CALL (sp, outcome, place) {
  WITH sp, outcome, place WHERE outcome = 'DONE'
  FOREACH (one IN $records | MERGE (n:Record {key: one.key}) ON CREATE SET n = one)
  FOREACH (i IN range(0, size($sharedMemories) - 1) |
    MERGE (n:SharedMemory {key: $sharedMemories[i].key})
    ON CREATE SET n = $sharedMemories[i], n.spaceId = $space, n.place = place + i)
  FOREACH (i IN range(0, size($skills) - 1) |
    MERGE (n:Skill {key: $skills[i].key})
    ON CREATE SET n = $skills[i], n.spaceId = $space, n.place = place + i)
  FOREACH (i IN range(0, size($profiles) - 1) |
    MERGE (n:ForkProfile {key: $profiles[i].key})
    ON CREATE SET n = $profiles[i], n.spaceId = $space, n.place = place + i)
  SET sp.nextPlace = place + size($sharedMemories) + size($skills) + size($profiles),
    sp.receipts = left($op + ' ' + coalesce(sp.receipts, ''), 216)
}
RETURN collect({outcome: outcome}) AS rows
