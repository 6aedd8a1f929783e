// purpose: Which of the turns of these keys are there.
// access: read
// params: keys
// returns: id
UNWIND $keys AS key
MATCH (t:Turn {key: key})
RETURN collect({id: t.id}) AS rows
