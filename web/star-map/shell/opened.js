/** What the page says about the open session, kept in step with the map. */
import { connection, query } from '../graphql.js';
import { effect, signal, untracked } from '../html.js';
import { listen } from '../live.js';
import { close, openId, viewer } from '../state.js';
import { t } from '../texts.js';
import { say, sayRefusal } from './toasts.js';

/** @typedef {{id: string, label: string, role: string, status: string, ancestors: {id: string, label: string}[]}} Opened */

const HEAD = `query Head($id: ID!) {
  session(id: $id) { id label role status node { ancestors { id label } } }
}`;
const RENAMING = new Set(['SESSION_UPDATED', 'SESSION_ARCHIVED', 'SESSION_UNARCHIVED']);

/** The open session; null where none is, or until it is loaded. */
export const opened = signal(/** @type {Opened | null} */ (null));
/** Counts what was asked for: only the newest answer counts. */
let loads = 0;
/** Whether the newest brought none. */
let isMissed = false;

// What is open, and who asks, may change: then it is another session, or none.
effect(() => {
  const id = viewer.value?.spaceId ? openId.value : null;
  untracked(() => load(id));
});

// What could not be read is read once the server is there again.
effect(() => {
  if (connection.value === 'open' && isMissed) untracked(() => load(openId.value));
});

listen(({ type, nodeId, data }) => {
  const id = openId.peek();
  if (id === null) return;
  if (type === 'SESSION_DELETED' && (nodeId === id || data.ids?.includes(id))) leave(t('side.deleted'));
  else if (RENAMING.has(type) && isShown(nodeId)) load(id);
});

/**
 * Loads a session; one that is not there is closed, and that is said.
 * @param {string | null} id
 */
async function load(id) {
  const mine = ++loads;
  isMissed = false;
  if (id !== opened.value?.id) opened.value = null;
  if (id === null) return;
  try {
    const { session } = await query(HEAD, { id });
    if (mine !== loads) return;
    if (session) opened.value = { ...session, ancestors: session.node?.ancestors ?? [] };
    else leave(t('side.unknown'));
  } catch (error) {
    if (mine === loads) isMissed = true;
    sayRefusal(error);
  }
}

/** @param {string} nodeId */
function isShown(nodeId) {
  return nodeId === openId.peek() || Boolean(opened.peek()?.ancestors.some(({ id }) => id === nodeId));
}

/** @param {string} why */
function leave(why) {
  close();
  say(why);
}
