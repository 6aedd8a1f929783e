export * from 'graphql-ws/client';
