/**
 * What was written and is not said yet, kept until the tab closes: by Space, for ids are only a Space's own, and
 * only for who wrote it.
 */
import { hasKey, locked } from '../graphql.js';
import { effect } from '../html.js';
import { viewer } from '../state.js';
import { session } from '../storage.js';

/** @typedef {{draft?: string, outgoing?: import('./sending.js').Outgoing | null}} Unsent */
/** @typedef {{spaceId: string, keyName: string | null}} Writer */

/** @type {{writer: Writer | null, bySession: Record<string, Unsent>}} */
let kept = JSON.parse(session.get('unsent') ?? 'null') ?? { writer: null, bySession: {} };

/**
 * The place of one session's; after another key came, nothing more is kept in it.
 * @param {string} id
 */
export function unsentOf(id) {
  const name = `${viewer.peek()?.spaceId}/${id}`;
  const mine = kept;
  return {
    /** @returns {Unsent} */
    get: () => mine.bySession[name] ?? {},
    /** @param {Unsent} unsent */
    set: (unsent) => {
      if (unsent.draft || unsent.outgoing) mine.bySession[name] = unsent;
      else delete mine.bySession[name];
      if (mine === kept) save();
    },
  };
}

function save() {
  session.set('unsent', JSON.stringify(kept));
}

/** @param {Writer | null} writer who writes from now on */
function begin(writer) {
  kept = { writer, bySession: {} };
  save();
}

/** @param {Writer} writer @param {Writer} other */
function isSame(writer, other) {
  // Who makes the first key of a server without keys goes on with it.
  return writer.spaceId === other.spaceId && (writer.keyName === other.keyName || writer.keyName === null);
}

effect(() => {
  const isForgotten = locked.value && !hasKey();
  const now = viewer.value;
  if (isForgotten) begin(null);
  else if (now && (!kept.writer || isSame(kept.writer, now))) kept.writer = { spaceId: now.spaceId, keyName: now.keyName };
  else if (now) begin({ spaceId: now.spaceId, keyName: now.keyName });
});
