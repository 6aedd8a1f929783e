// purpose: All that compiling a session's context needs: session, Space, the transcript that no compression covers, the index of
//   shared memory where the Space has it on, and the skills.
// access: read
// params: space, key
// returns: session.*, space, transcript, sharedMemories, storedSkills
MATCH (sp:Space {id: $space})
MATCH (s:Session {key: $key})
CALL (s) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq > coalesce(s.compressionThroughSeq, 0)
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect([m.id, m.sessionId, m.role, m.content, m.parts, m.state, m.toolCalls, m.toolCallId,
    m.toolName, m.isError, m.durationMs, m.model, m.usage, m.turnId, m.createdAt, r.seq]) AS transcript
}
CALL (sp) {
  WITH sp WHERE sp.sharedMemory
  MATCH (n:SharedMemory)
  USING INDEX SEEK n:SharedMemory(spaceId, place)
  WHERE n.spaceId = $space AND n.place >= 0
  WITH n ORDER BY n.spaceId, n.place
  RETURN collect(n {.id, .summary, .updatedAt}) AS sharedMemories
}
CALL () {
  MATCH (n:Skill)
  USING INDEX SEEK n:Skill(spaceId, place)
  WHERE n.spaceId = $space AND n.place >= 0
  WITH n ORDER BY n.spaceId, n.place
  RETURN collect(n {.id, .description}) AS storedSkills
}
RETURN collect(s {.*, space: sp {.*}, transcript: transcript, sharedMemories: sharedMemories,
  storedSkills: storedSkills}) AS rows
