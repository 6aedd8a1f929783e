-- purpose: The newest keys of a range, the revoked ones too, in descending order.
-- access: read
-- params: prefix, end, first
-- returns: key.*
SELECT * FROM api_key WHERE key >= :prefix AND key < :end ORDER BY key DESC LIMIT :first;
