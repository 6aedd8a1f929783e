"""Real processes of `stello-graph`, asked as front-ends ask them."""
