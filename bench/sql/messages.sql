INSERT INTO message (key, id, sessionId, role, content, state, isError, createdAt)
VALUES (:key, :id, :sessionId, :role, :content, 'COMPLETE', 0, :at);
INSERT INTO has_message (sk, seq, mk) VALUES (:sessionKey, :seq, :key);
INSERT INTO searchable (key, scope, terms) VALUES (:key, 'MESSAGE', :terms);
