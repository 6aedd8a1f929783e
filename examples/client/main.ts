import { randomUUID } from 'node:crypto'
import { print } from 'graphql'
import { createClient as createEventStream } from 'graphql-sse'
import { codeOf, connect } from './client.js'
import {
  CreateSessionDocument,
  ForkDocument,
  OpenSessionDocument,
  StarMapDocument,
  StartTurnDocument,
  TopologyEventsDocument,
  type TopologyEventsSubscription,
} from './generated/operations.js'

const url = process.argv[2] ?? 'http://localhost:8000/graphql'
const { client, headers, turnEvents, close } = connect(url, process.env['STELLO_KEY'])

const made = await client.mutation(CreateSessionDocument, { input: { label: 'Lisbon' } }).toPromise()
if (!made.data) throw made.error
const session = made.data.createSession

const begun = await client
  .mutation(StartTurnDocument, {
    input: { sessionId: session.id, content: 'A week in Lisbon?', idempotencyKey: randomUUID() },
  })
  .toPromise()
if (!begun.data) throw begun.error
let reply = ''
for await (const event of turnEvents(begun.data.startTurn.id)) {
  if (event.__typename === 'TextDelta') reply += event.text
  if (event.__typename === 'TurnEnded') console.log(event.turn.status, reply)
}

const forked = await client
  .mutation(ForkDocument, {
    input: { sourceSessionId: session.id, label: 'By train', context: 'INHERIT', throughSeq: 2 },
  })
  .toPromise()
console.log('forked', forked.data?.fork.messageCount, 'messages')

const map = await client.query(StarMapDocument, {}).toPromise()
if (!map.data) throw map.error
const { columns, eventSeq } = map.data.starMap
columns.id.forEach((id, place) => {
  const parent = columns.parent[place] ?? -1
  console.log('star', columns.label[place], 'below', parent < 0 ? 'nothing' : columns.label[parent])
})

const nobody = await client.query(OpenSessionDocument, { id: 'a b' }).toPromise()
console.log('refused', codeOf(nobody.error))

await new Promise<void>((resolve) => {
  const live = client.subscription(TopologyEventsDocument, { after: eventSeq - 1 }).subscribe((told) => {
    console.log('changed', told.error ?? told.data?.topologyEvents.type)
    live.unsubscribe()
    resolve()
  })
})

// The same as server-sent events, where no WebSocket gets through.
const stream = createEventStream({ url, headers })
const events = stream.iterate<TopologyEventsSubscription>({
  query: print(TopologyEventsDocument),
  variables: { after: eventSeq - 1 },
})
for await (const { data } of events) {
  console.log('changed', data?.topologyEvents.type)
  break
}
stream.dispose()
await close()
