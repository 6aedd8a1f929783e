"""The GraphQL schema: types, queries, mutations and subscriptions over the service."""
