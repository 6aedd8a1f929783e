/** The names of sessions that messages come from. */
import { query } from '../graphql.js';
import { effect, signal } from '../html.js';
import { listen } from '../live.js';
import { sayRefusal } from '../shell/toasts.js';
import { viewer } from '../state.js';
import { LABELS } from './documents.js';

/** Labels by id; null: deleted. */
const labels = signal(/** @type {ReadonlyMap<string, string | null>} */ (new Map()));
let asked = /** @type {Set<string>} */ (new Set());

/** @param {string} id @returns {string | null | undefined} undefined while it is not known */
export function labelOf(id) {
  return labels.value.get(id);
}

/** Looks up the names that are not known yet. @param {string[]} ids */
export function name(ids) {
  const mine = asked;
  const missing = [...new Set(ids)].filter((id) => !mine.has(id));
  if (!missing.length) return;
  for (const id of missing) mine.add(id);
  query(LABELS, { ids: missing }).then(({ topologyNodes }) => {
    // Another Space has its own.
    if (mine === asked) learn(missing.map((id, place) => [id, topologyNodes[place]?.label ?? null]));
  }).catch((error) => {
    for (const id of missing) mine.delete(id);
    sayRefusal(error);
  });
}

/** @param {[string, string | null][]} found */
function learn(found) {
  labels.value = new Map([...labels.value, ...found]);
}

listen(({ type, nodeId, node, data }) => {
  const changed = type === 'SESSION_DELETED' ? data.ids : type === 'SESSION_UPDATED' ? [nodeId] : [];
  const known = changed.filter((/** @type {string} */ id) => asked.has(id));
  if (known.length) learn(known.map((/** @type {string} */ id) => [id, node?.label ?? null]));
});

effect(() => {
  if (viewer.value) return;
  labels.value = new Map();
  asked = new Set();
});
