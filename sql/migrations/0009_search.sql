-- Search: the terms of labels, digests and messages, and what is there already and waits for its terms.
CREATE TABLE searchable (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  scope TEXT NOT NULL,
  terms TEXT NOT NULL
);
CREATE UNIQUE INDEX searchable_key ON searchable (key, scope);
CREATE VIRTUAL TABLE search_index USING fts5(terms, content = 'searchable', content_rowid = 'id', columnsize = 0, tokenize = 'ascii');
CREATE TRIGGER searchable_comes AFTER INSERT ON searchable
BEGIN
  INSERT INTO search_index (rowid, terms) VALUES (NEW.id, NEW.terms);
END;
CREATE TRIGGER searchable_changes AFTER UPDATE OF terms ON searchable WHEN NEW.terms <> OLD.terms
BEGIN
  INSERT INTO search_index (search_index, rowid, terms) VALUES ('delete', OLD.id, OLD.terms);
  INSERT INTO search_index (rowid, terms) VALUES (NEW.id, NEW.terms);
END;
CREATE TRIGGER searchable_goes AFTER DELETE ON searchable
BEGIN
  INSERT INTO search_index (search_index, rowid, terms) VALUES ('delete', OLD.id, OLD.terms);
END;
CREATE TRIGGER searchable_goes_with_its_message AFTER DELETE ON message
BEGIN
  DELETE FROM searchable WHERE key = OLD.key AND scope = 'MESSAGE';
END;
CREATE TRIGGER searchable_goes_with_its_session AFTER DELETE ON session
BEGIN
  DELETE FROM searchable WHERE key = OLD.key AND scope IN ('LABEL', 'MEMORY');
END;
CREATE TABLE unindexed (
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  PRIMARY KEY (key, kind)
) WITHOUT ROWID;
INSERT INTO unindexed (key, kind) SELECT key, 'SESSION' FROM session;
INSERT INTO unindexed (key, kind) SELECT key, 'MESSAGE' FROM message WHERE role <> 'TOOL';
