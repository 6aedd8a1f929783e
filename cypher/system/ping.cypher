// purpose: What database this is.
// access: read
// params: none
// returns: text
CALL dbms.components() YIELD versions, edition
RETURN [{text: 'Neo4j ' + versions[0] + ' ' + edition}] AS rows LIMIT 1
