/**
 * The only way to the server: `query` for queries and mutations, `subscribe` for streams.
 * Every failure is a Refusal with the server's code, or OFFLINE where no answer came.
 */
import { CloseCode, createClient } from '../vendor/graphql-ws.js';
import { signal } from './html.js';
import { streamEvents } from './sse.js';
import { PREFIX, session } from './storage.js';

const ENDPOINT = `${PREFIX}graphql`;
const SOCKET = `${location.origin.replace(/^http/, 'ws')}${ENDPOINT}`;
const FORBIDDEN = 4403;
// From here on codes are of graphql-transport-ws, by the server itself.
const APPLICATION_CODES = 4000;
const PING_MS = 10_000;
const PONG_MS = 5_000;
// The server says something each 15 s (STELLO_KEEPALIVE_SECONDS), be it a comment.
const SILENCE_MS = 45_000;
const WAITS_MS = [300, 1_000, 2_000, 4_000, 8_000, 15_000];

/** @typedef {Record<string, any>} Data */
/** @typedef {{next: (data: Data) => void, error: (refusal: Refusal) => void, complete: () => void}} Sink */

/** Why an operation was not done. */
export class Refusal extends Error {
  /**
   * @param {string} code one of ErrorCode, or OFFLINE
   * @param {string} message for a person, in the server's words
   * @param {Data} extensions what else the server tells
   */
  constructor(code, message, extensions = {}) {
    super(message);
    this.code = code;
    this.extensions = extensions;
  }
}

/** How it stands with the streams: nobody asked for one yet, they come, or they are lost and tried again. */
export const connection = signal(/** @type {'idle' | 'open' | 'lost'} */ ('idle'));
/** Whether the server asks for a key, or for another one. */
export const locked = signal(false);

/** What comes as events now, to be ended. @type {Set<AbortController>} */
const streams = new Set();

let key = session.get('api-key') ?? '';

/** @param {string} value the key to ask with from now on; GraphiQL uses it too; '' for none */
export function setKey(value) {
  key = value;
  session.set('api-key', value || null);
  locked.value = false;
  sockets.terminate();
  for (const stream of streams) stream.abort(lost());
}

/** Whether this tab has a key. */
export function hasKey() {
  return key !== '';
}

/** @returns {Record<string, string>} */
export function authorization() {
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/**
 * Runs a query or a mutation.
 * @param {string} text
 * @param {Data} [variables]
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<any>} `data`
 * @throws {Refusal} also where only a part of the answer failed
 */
export async function query(text, variables = {}, { signal: abort } = {}) {
  const asker = key;
  const response = await answered(() =>
    fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...authorization() },
      body: JSON.stringify({ query: text, variables }),
      signal: abort,
    }),
  );
  const body = await jsonOf(response);
  if (body.errors?.length) throw refusalOf(body.errors[0], asker);
  return body.data;
}

/**
 * What a request was answered with, or a Refusal where nothing came.
 * @param {() => Promise<Response>} ask
 */
export async function answered(ask) {
  try {
    return await ask();
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Refusal('OFFLINE', 'The server does not answer.');
  }
}

/**
 * @param {Response} response
 * @returns {Promise<any>}
 */
export async function jsonOf(response) {
  const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '');
  const body = isJson ? await response.json().catch(() => null) : null;
  if (!body) throw new Refusal('OFFLINE', `HTTP ${response.status} ${response.statusText}`.trim());
  return body;
}

/**
 * One GraphQL error as a Refusal; without a valid key the gate closes.
 * @param {{message: string, extensions?: Data}} error
 * @param {string} [asker] the key that was asked with: one that was given up since closes nothing
 */
export function refusalOf({ message, extensions = {} }, asker = key) {
  const code = String(extensions.code ?? 'INTERNAL');
  if (code === 'UNAUTHENTICATED' && asker === key) locked.value = true;
  return new Refusal(code, message, extensions);
}

/**
 * Follows a subscription until it completes, fails or is stopped. A connection that is lost is
 * opened again and the operation is sent again with what `variables` returns by then, so that it
 * goes on after what was seen.
 * @param {string} text
 * @param {() => Data} variables
 * @param {Sink} sink
 * @returns {() => void} stops it
 */
export function subscribe(text, variables, sink) {
  let stopped = false;
  let stop = () => {};
  let tries = 0;
  const next = (/** @type {Data} */ data) => {
    tries = 0;
    connection.value = 'open';
    sink.next(data);
  };
  const again = () => {
    if (stopped) return;
    connection.value = 'lost';
    const timer = setTimeout(begin, WAITS_MS[Math.min(tries++, WAITS_MS.length - 1)]);
    stop = () => clearTimeout(timer);
  };
  const begin = () => {
    const follow = viaSocket.works ? bySocket : byEvents;
    stop = follow({ query: text, variables: variables() }, {
      next,
      complete: () => !stopped && sink.complete(),
      error: (refusal) => {
        if (stopped) return;
        if (refusal.code === 'OFFLINE') again();
        else sink.error(refusal);
      },
    });
    if (viaSocket.isUp) connection.value = 'open';
  };
  begin();
  return () => {
    stopped = true;
    stop();
  };
}

// A proxy may let no WebSocket through, or close each at once: after the second time that the server was not heard by
// one, streams come as server-sent events.
const viaSocket = {
  opened: false,
  isUp: false,
  failures: 0,
  get works() {
    return this.opened || this.failures < 2;
  },
};

// A connection may die without a word: then no pong comes, and no event either.
let pongDue = 0;

const sockets = createClient({
  url: SOCKET,
  lazy: true,
  lazyCloseTimeout: 2_000,
  keepAlive: PING_MS,
  connectionParams: authorization,
  retryAttempts: 0,
  on: {
    connected: () => {
      viaSocket.opened = viaSocket.isUp = true;
      connection.value = 'open';
    },
    ping: (isReceived) => {
      if (!isReceived) pongDue = window.setTimeout(giveUpSocket, PONG_MS);
    },
    pong: (isReceived) => {
      if (isReceived) clearTimeout(pongDue);
    },
    closed: (event) => {
      clearTimeout(pongDue);
      viaSocket.isUp = false;
      const { code } = /** @type {{code?: number}} */ (event);
      if (code === undefined || code < APPLICATION_CODES) countFailure();
    },
  },
});

function countFailure() {
  if (!viaSocket.opened) viaSocket.failures += 1;
}

/** Ends a socket that is silent; what came by it comes by another. */
function giveUpSocket() {
  countFailure();
  sockets.terminate();
}

function lost() {
  return new Refusal('OFFLINE', 'The connection was lost.');
}

/** @param {{query: string, variables: Data}} payload @param {Sink} sink @returns {() => void} */
function bySocket(payload, sink) {
  return sockets.subscribe(payload, {
    next: ({ data, errors }) => {
      if (errors?.length) sink.error(refusalOf(/** @type {any} */ (errors[0])));
      else if (data) sink.next(data);
    },
    complete: sink.complete,
    error: (error) => sink.error(socketRefusal(error)),
  });
}

/** @param {unknown} error GraphQL errors, a CloseEvent, or a bare Event where no socket opened */
function socketRefusal(error) {
  if (Array.isArray(error)) return refusalOf(error[0]);
  if (error instanceof CloseEvent && (error.code === FORBIDDEN || error.code === CloseCode.Unauthorized)) {
    return refusalOf({ message: error.reason, extensions: { code: 'UNAUTHENTICATED' } });
  }
  if (error instanceof CloseEvent && error.code === CloseCode.TooManyInitialisationRequests) {
    return new Refusal('LIMIT_EXCEEDED', error.reason);
  }
  return lost();
}

/** @param {{query: string, variables: Data}} payload @param {Sink} sink @returns {() => void} */
function byEvents(payload, sink) {
  const abort = new AbortController();
  let silence = 0;
  const heard = () => {
    clearTimeout(silence);
    silence = window.setTimeout(() => abort.abort(lost()), SILENCE_MS);
  };
  const open = () =>
    fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...authorization() },
      body: JSON.stringify(payload),
      signal: abort.signal,
    });
  streams.add(abort);
  heard();
  follow(open, sink, heard)
    .catch((error) => {
      const why = abort.signal.aborted ? abort.signal.reason : error;
      if (!isAbort(why)) sink.error(why instanceof Refusal ? why : new Refusal('OFFLINE', String(why)));
    })
    .finally(() => {
      clearTimeout(silence);
      streams.delete(abort);
      abort.abort();
    });
  return () => abort.abort();
}

/** @param {unknown} error @returns {boolean} whether who asked wanted it no more */
function isAbort(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** @param {() => Promise<Response>} open @param {Sink} sink @param {() => void} heard told whenever anything comes */
async function follow(open, sink, heard) {
  const response = await answered(open);
  if (!/event-stream/.test(response.headers.get('content-type') ?? '')) {
    const body = await jsonOf(response);
    throw refusalOf(body.errors?.[0] ?? { message: `HTTP ${response.status}` });
  }
  connection.value = 'open';
  for await (const { event, data } of streamEvents(/** @type {ReadableStream<any>} */ (response.body), heard)) {
    if (event === 'complete') return sink.complete();
    const { data: result, errors } = JSON.parse(data);
    if (errors?.length) throw refusalOf(errors[0]);
    sink.next(result);
  }
  throw new Refusal('OFFLINE', 'The stream broke off.');
}
