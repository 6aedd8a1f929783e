-- An event keeps the id of its tree's root, which outlives the session. Of what was deleted before, the tree is not known.
ALTER TABLE topology_event ADD COLUMN rootId TEXT;
UPDATE topology_event SET rootId = coalesce(
  (SELECT s.rootId FROM session AS s WHERE s.key = topology_event.spaceId || '/' || topology_event.nodeId), nodeId);
CREATE TRIGGER event_knows_its_tree AFTER INSERT ON topology_event
BEGIN
  UPDATE topology_event SET rootId = coalesce(
    (SELECT s.rootId FROM session AS s WHERE s.key = NEW.spaceId || '/' || NEW.nodeId), NEW.nodeId)
  WHERE key = NEW.key;
END;
