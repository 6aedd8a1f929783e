-- purpose: All fork profiles of a Space, in the order of first insertion.
-- access: read
-- params: space
-- texts: many
-- returns: id, systemPrompt, systemPromptMode, skills, context, prompt
SELECT id, systemPrompt, systemPromptMode, skills, context, prompt FROM fork_profile WHERE spaceId = :space ORDER BY place;
