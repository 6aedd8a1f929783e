'use strict';

(() => {
  const ENDPOINT = location.pathname;
  const PREFIX = new URL('./', location.href).pathname;
  const SOCKET = location.origin.replace(/^http/, 'ws') + ENDPOINT;
  const API_KEY = `stello-graph:${PREFIX}:api-key`;
  const FORBIDDEN = 4403;
  const TERMINATED = 4499;

  const WELCOME = `query Roots {
  getChildren {
    id
    label
    childCount
  }
}

# Run it with Ctrl-Enter, then go on from an id:
#
#   { getChildren(parentId: "…") { id label } }
#   { session(id: "…") {
#       memory
#       messages(last: 20) { nodes { content } }
#   } }
#
# Write, and follow a turn:
#
#   mutation {
#       createSession(input: {label: "Hi"}) { id }
#   }
#   mutation { send(input: {
#       sessionId: "…", content: "Hello"
#   }) { status reply { content } } }
#   subscription { turnEvents(turnId: "…") { seq } }
#
# On the left: documentation, this tab's history
# and an explorer that writes queries by clicking.
`;

  // Reading window.sessionStorage throws where the browser blocks site data.
  function openStorage(name) {
    try {
      const storage = window[name];
      storage.getItem('');
      return storage;
    } catch {
      const entries = new Map();
      return {
        getItem: (key) => entries.get(key) ?? null,
        setItem: (key, value) => void entries.set(key, value),
        removeItem: (key) => void entries.delete(key),
        key: (index) => [...entries.keys()][index] ?? null,
        get length() { return entries.size; },
      };
    }
  }

  const session = openStorage('sessionStorage');
  const lasting = openStorage('localStorage');

  // Queries and variables hold what people wrote: only the colour theme outlives the tab.
  function editorStorage() {
    const scope = `stello-graph:${PREFIX}:`;
    const place = (key) => (key === 'graphiql:theme' ? lasting : session);
    const stored = (storage) => Array.from({ length: storage.length }, (_, index) => storage.key(index))
      .filter((key) => key.startsWith(`${scope}graphiql:`));
    return {
      getItem: (key) => place(key).getItem(scope + key),
      setItem: (key, value) => place(key).setItem(scope + key, value),
      removeItem: (key) => place(key).removeItem(scope + key),
      clear: () => [session, lasting].forEach((storage) => stored(storage).forEach((key) => storage.removeItem(key))),
      get length() { return stored(session).length + stored(lasting).length; },
    };
  }

  const access = {
    box: document.getElementById('access'),
    state: document.getElementById('access-state'),
    input: document.getElementById('api-key'),
    forget: document.getElementById('forget-key'),
    key: session.getItem(API_KEY) ?? '',
    refused: false,

    get bearer() { return this.key ? { Authorization: `Bearer ${this.key}` } : null; },

    set(key) {
      this.key = key;
      if (key) session.setItem(API_KEY, key);
      else session.removeItem(API_KEY);
      this.input.value = key;
      this.answered(false);
    },

    answered(refused) {
      this.refused = refused;
      this.show();
    },

    show() {
      this.forget.hidden = !this.key;
      this.box.dataset.state = this.refused ? 'refused' : this.key ? 'used' : 'open';
      this.state.textContent = this.refused
        ? (this.key ? 'The server refused this key' : 'The server asks for a key')
        : (this.key ? 'Kept until this tab closes' : '');
    },
  };

  async function send(url, init) {
    const headers = new Headers(init.headers);
    const ours = access.bearer;
    if (ours && !headers.has('authorization')) headers.set('authorization', ours.Authorization);
    const response = await fetch(url, { ...init, headers });
    access.answered(response.status === 401);
    if (/\bjson\b/.test(response.headers.get('content-type') ?? '')) return response;
    const body = (await response.text()).slice(0, 500);
    return Response.json({ errors: [{ message: `HTTP ${response.status} ${response.statusText}: ${body}` }] });
  }

  // A socket that cannot be opened reports a bare Event, not a CloseEvent; graphql-ws hands it on as it is.
  function reason(error) {
    if (error?.code === TERMINATED) return 'The API key changed while this ran.';
    if (error instanceof CloseEvent) return `The server closed the socket: ${error.code} ${error.reason}`.trim();
    if (error instanceof Event) return `No WebSocket at ${SOCKET}. A proxy on the way has to forward Upgrade and Connection.`;
    return error instanceof Error ? error.message : String(error);
  }

  function socketClient() {
    let connected = false;
    const client = graphqlWs.createClient({
      url: SOCKET,
      lazy: true,
      keepAlive: 10_000,
      connectionParams: () => access.bearer,
      // graphql-ws would try again after 4403, and never after a bare Event, which is what a restarting server causes.
      shouldRetry: (error) => (error instanceof CloseEvent ? error.code !== FORBIDDEN : error instanceof Event && connected),
      on: {
        connected: () => { connected = true; },
        closed: (event) => { if (event.code === FORBIDDEN) access.answered(true); },
      },
    });
    return {
      end: () => client.terminate(),
      // As a last result: GraphiQL's iterator leaves an unhandled rejection behind when its sink is given an error.
      subscribe: (payload, sink) => client.subscribe(payload, {
        ...sink,
        error: (error) => {
          sink.next({ errors: Array.isArray(error) ? error : [{ message: reason(error) }] });
          sink.complete();
        },
      }),
    };
  }

  const socket = socketClient();
  const root = ReactDOM.createRoot(document.getElementById('graphiql'));
  const storage = editorStorage();
  const plugins = [GraphiQLPluginExplorer.explorerPlugin()];

  // A new fetcher makes GraphiQL read the schema again, which another key may see differently.
  function render() {
    const fetcher = GraphiQL.createFetcher({
      url: ENDPOINT,
      wsClient: socket,
      fetch: send,
      headers: { accept: 'application/json' },
      enableIncrementalDelivery: false,
    });
    const props = { fetcher, storage, plugins, defaultQuery: WELCOME, shouldPersistHeaders: false };
    root.render(React.createElement(GraphiQL, props, React.createElement(GraphiQL.Logo, null, ' ')));
  }

  function changeKey(typed) {
    const key = typed.replace(/[^\x21-\x7e]/g, '');
    if (key === access.key) return;
    access.set(key);
    socket.end();
    render();
  }

  access.input.addEventListener('change', () => changeKey(access.input.value));
  access.forget.addEventListener('click', () => {
    changeKey('');
    access.input.focus();
  });
  access.input.value = access.key;
  access.show();
  render();
})();
