// A Space tells how far its events show whole: up to the newest write.
MATCH (sp:Space) WHERE sp.settledSeq IS NULL
SET sp.settledSeq = CASE sp.eventSeq WHEN 0 THEN 0 ELSE sp.eventSeq - 1 END;
