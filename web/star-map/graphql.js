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

let key = session.get('api-key') ?? '';

/** @param {string} value the key to ask with from now on; GraphiQL uses it too; '' for none */
export function setKey(value) {
  key = value;
  session.set('api-key', value || null);
  locked.value = false;
  sockets.terminate();
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
  const response = await answered(() =>
    fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...authorization() },
      body: JSON.stringify({ query: text, variables }),
      signal: abort,
    }),
  );
  const body = await jsonOf(response);
  if (body.errors?.length) throw refusalOf(body.errors[0]);
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
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
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
 */
export function refusalOf({ message, extensions = {} }) {
  const code = String(extensions.code ?? 'INTERNAL');
  if (code === 'UNAUTHENTICATED') locked.value = true;
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
  failures: 0,
  get works() {
    return this.opened || this.failures < 2;
  },
};

const sockets = createClient({
  url: SOCKET,
  lazy: true,
  lazyCloseTimeout: 2_000,
  keepAlive: 10_000,
  connectionParams: authorization,
  retryAttempts: 0,
  on: {
    connected: () => {
      viaSocket.opened = true;
      connection.value = 'open';
    },
    closed: (event) => {
      const isOfServer = event instanceof CloseEvent && event.code >= APPLICATION_CODES;
      if (!viaSocket.opened && !isOfServer) viaSocket.failures += 1;
    },
  },
});

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
  return new Refusal('OFFLINE', 'The connection was lost.');
}

/** @param {{query: string, variables: Data}} payload @param {Sink} sink @returns {() => void} */
function byEvents(payload, sink) {
  const abort = new AbortController();
  const open = () =>
    fetch(ENDPOINT, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'text/event-stream', ...authorization() },
      body: JSON.stringify(payload),
      signal: abort.signal,
    });
  follow(open, sink).catch((error) => {
    if (!abort.signal.aborted) sink.error(error instanceof Refusal ? error : new Refusal('OFFLINE', String(error)));
  });
  return () => abort.abort();
}

/** @param {() => Promise<Response>} open @param {Sink} sink */
async function follow(open, sink) {
  const response = await answered(open);
  if (!/event-stream/.test(response.headers.get('content-type') ?? '')) {
    const body = await jsonOf(response);
    throw refusalOf(body.errors?.[0] ?? { message: `HTTP ${response.status}` });
  }
  connection.value = 'open';
  for await (const { event, data } of streamEvents(/** @type {ReadableStream<any>} */ (response.body))) {
    if (event === 'complete') return sink.complete();
    const { data: result, errors } = JSON.parse(data);
    if (errors?.length) throw refusalOf(errors[0]);
    sink.next(result);
  }
  throw new Refusal('OFFLINE', 'The stream broke off.');
}
