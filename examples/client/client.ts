import { setTimeout as wait } from 'node:timers/promises'
import { Client, CombinedError, fetchExchange, subscriptionExchange } from '@urql/core'
import { print } from 'graphql'
import { createClient } from 'graphql-ws'
import WebSocket from 'ws'
import { TurnEventsDocument, type ErrorCode, type TurnEventsSubscription } from './generated/operations.js'

export type TurnEvent = TurnEventsSubscription['turnEvents']

/** A client of one server; without a key where the server has none. */
export function connect(url: string, key?: string) {
  const headers: Record<string, string> = key ? { Authorization: `Bearer ${key}` } : {}
  const socket = createClient({
    url: url.replace(/^http/, 'ws'),
    connectionParams: headers,
    webSocketImpl: WebSocket, // browsers have one of their own
    retryAttempts: 0, // who goes on after a break names the event to go on after
  })
  const client = new Client({
    url,
    fetchOptions: { headers },
    preferGetMethod: false, // GET is GraphiQL
    exchanges: [
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: ({ query = '', variables }) => ({
          subscribe: (sink) => ({ unsubscribe: socket.subscribe({ query, variables: variables ?? {} }, sink) }),
        }),
      }),
    ],
  })

  /** All events of a turn to its end, each once, also across lost connections. */
  async function* turnEvents(turnId: string): AsyncGenerator<TurnEvent> {
    for (let after = 0; ; await wait(500)) {
      const query = print(TurnEventsDocument)
      try {
        for await (const { data, errors } of socket.iterate<TurnEventsSubscription>({
          query,
          variables: { turnId, after },
        })) {
          if (!data) throw new CombinedError({ graphQLErrors: [...(errors ?? [])] })
          after = data.turnEvents.seq
          yield data.turnEvents
          if (data.turnEvents.__typename === 'TurnEnded') return
        }
      } catch (problem) {
        if (isRefusal(problem)) throw problem
      }
    }
  }

  return { client, headers, turnEvents, close: () => socket.dispose() }
}

/** Errors of the operation, or a socket that was closed for a reason that stays: 4403 is a wrong key. */
function isRefusal(problem: unknown) {
  const refused = problem instanceof CombinedError || Array.isArray(problem)
  return refused || (problem as { code?: number }).code! >= 4400
}

/** The code of a refusal: what went wrong, for programs. */
export function codeOf(error: CombinedError | undefined): ErrorCode | undefined {
  return error?.graphQLErrors[0]?.extensions['code'] as ErrorCode | undefined
}
