"""HTTP: routes, access, pages, health."""
