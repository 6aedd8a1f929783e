/** Who asks, and of which Space: what is loaded first, and anew with each key. */
import { query, Refusal } from '../graphql.js';
import { batch, signal } from '../html.js';
import { offlineModel, sessionCount, space, viewer } from '../state.js';

const VIEWER = '{ me { spaceId keyName scope } }';
const SPACE = '{ space { id name sessionCount offline config { model strategy sharedMemory } } }';

/** Why it could not be loaded; null while it is under way or done. */
export const failure = signal(/** @type {Refusal | null} */ (null));

let latest = 0;

/** Forgets what was loaded and loads it again; of two at once the later counts. */
export async function arrive() {
  const mine = ++latest;
  settle(null, null, null);
  try {
    const { me } = await query(VIEWER);
    // A key of the scope OPERATOR has no Space, and may not ask for one.
    const own = me.spaceId === null ? null : (await query(SPACE)).space;
    if (mine === latest) settle(me, own, null);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (mine === latest) settle(null, null, error);
  }
}

/** @param {typeof viewer.value} me @param {typeof space.value} own @param {Refusal | null} refusal */
function settle(me, own, refusal) {
  batch(() => {
    viewer.value = me;
    space.value = own;
    offlineModel.value = own?.offline ?? false;
    sessionCount.value = own?.sessionCount ?? null;
    failure.value = refusal;
  });
}
