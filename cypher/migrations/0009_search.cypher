// Search: the terms of labels, digests and messages, and what is there already and waits for its terms.
CREATE FULLTEXT INDEX search_label IF NOT EXISTS FOR (n:Session) ON EACH [n.labelTerms]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
CREATE FULLTEXT INDEX search_memory IF NOT EXISTS FOR (n:Session) ON EACH [n.memoryTerms]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
CREATE FULLTEXT INDEX search_message IF NOT EXISTS FOR (n:Message) ON EACH [n.terms]
  OPTIONS {indexConfig: {`fulltext.analyzer`: 'whitespace', `fulltext.eventually_consistent`: true}};
MATCH (n:Session) WHERE n.labelTerms IS NULL
CALL (n) { SET n:Unindexed } IN TRANSACTIONS OF 10000 ROWS;
MATCH (n:Message) WHERE n.terms IS NULL
CALL (n) { SET n:Unindexed } IN TRANSACTIONS OF 10000 ROWS;
