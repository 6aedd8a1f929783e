/** The names of sessions that messages come from. */
import { query } from '../graphql.js';
import { signal } from '../html.js';
import { sayRefusal } from '../shell/toasts.js';
import { LABELS } from './documents.js';

/** Labels by id; null: deleted. */
const labels = signal(/** @type {ReadonlyMap<string, string | null>} */ (new Map()));
const asked = new Set();

/** @param {string} id @returns {string | null | undefined} undefined while it is not known */
export function labelOf(id) {
  return labels.value.get(id);
}

/** Looks up the names that are not known yet. @param {string[]} ids */
export function name(ids) {
  const missing = [...new Set(ids)].filter((id) => !asked.has(id));
  if (!missing.length) return;
  for (const id of missing) asked.add(id);
  query(LABELS, { ids: missing }).then(({ topologyNodes }) => {
    const found = missing.map((id, place) => /** @type {const} */ ([id, topologyNodes[place]?.label ?? null]));
    labels.value = new Map([...labels.value, ...found]);
  }).catch((error) => {
    for (const id of missing) asked.delete(id);
    sayRefusal(error);
  });
}
