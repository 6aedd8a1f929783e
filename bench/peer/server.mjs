// @neo4j/graphql over the graph of the benchmark: node server.mjs, with NEO4J_URL, NEO4J_USER, NEO4J_PASSWORD and
// NEO4J_DATABASE. It prints its address. `GET /bench` tells what it took of the processor, in seconds.
//
// Between HTTP and the library is the least that can be: documents are parsed and checked once, answers go out in one
// piece without delay.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { Neo4jGraphQL } from '@neo4j/graphql'
import { execute, parse, validate } from 'graphql'
import neo4j from 'neo4j-driver'

const { NEO4J_URL, NEO4J_USER, NEO4J_PASSWORD, NEO4J_DATABASE } = process.env
const auth = NEO4J_USER ? neo4j.auth.basic(NEO4J_USER, NEO4J_PASSWORD) : undefined
// Plain numbers are faster than the driver's own, and none here is too large for them.
const driver = neo4j.driver(NEO4J_URL, auth, { disableLosslessIntegers: true })
const typeDefs = readFileSync(new URL('schema.graphql', import.meta.url), 'utf8')
const schema = await new Neo4jGraphQL({ typeDefs, driver }).getSchema()
const contextValue = NEO4J_DATABASE ? { sessionConfig: { database: NEO4J_DATABASE } } : {}
const documents = new Map()

function prepared(query) {
  if (!documents.has(query)) {
    const document = parse(query)
    documents.set(query, { document, errors: validate(schema, document) })
  }
  return documents.get(query)
}

async function answer(request) {
  if (request.url === '/bench') {
    const { user, system } = process.cpuUsage()
    return { cpu: (user + system) / 1e6 }
  }
  const { query, variables } = JSON.parse(await text(request))
  const { document, errors } = prepared(query)
  if (errors.length > 0) return { errors }
  return execute({ schema, document, variableValues: variables, contextValue: { ...contextValue } })
}

const server = createServer({ noDelay: true, keepAliveTimeout: 60_000 }, async (request, response) => {
  try {
    const body = Buffer.from(JSON.stringify(await answer(request)))
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body)
  } catch (error) {
    response.writeHead(400).end(String(error))
  }
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))
process.on('SIGTERM', () => process.exit(0))
