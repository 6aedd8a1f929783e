/** Tells the server which session this tab is in, so that one is consolidated as it is left. */
import { query } from '../graphql.js';
import { effect } from '../html.js';
import { sayRefusal } from '../shell/toasts.js';
import { openId, tab, viewer } from '../state.js';
import { session } from '../storage.js';
import { ENTER, LEAVE } from './documents.js';
import { newId } from './ids.js';

const holder = session.get('holder') ?? newId();
session.set('holder', holder);
let inside = /** @type {string | null} */ (null);

/** Enters a session; by that the server has this tab leave the one before. @param {string} id */
export function enter(id) {
  if (inside === id) return;
  inside = id;
  query(ENTER, { id, holder }).catch((error) => {
    if (inside === id) inside = null;
    sayRefusal(error);
  });
}

/** Leaves the session that this tab is in, if any. */
export function leave() {
  if (inside === null) return;
  const id = inside;
  inside = null;
  query(LEAVE, { id, holder }).catch(sayRefusal);
}

// Another session that shows its conversation is entered, which leaves the one before.
effect(() => {
  const isElsewhere = openId.value !== inside && tab.value !== 'talk';
  if (openId.value === null || isElsewhere) leave();
});

// Whoever comes with another key has entered nothing yet.
effect(() => {
  if (!viewer.value) inside = null;
});
