/** What the parts of the page share. Whoever draws reads these signals; actions set them. */
import { computed, effect, signal } from './html.js';
import { lasting } from './storage.js';

/** @typedef {'READ' | 'WRITE' | 'ADMIN' | 'OPERATOR'} Scope */
/** @typedef {'talk' | 'memory' | 'preview' | 'settings'} Tab */
/** @typedef {'auto' | 'light' | 'dark'} Theme */

/** Who asks; null until the server told. @type {import('../vendor/signals.js').Signal<{spaceId: string, keyName: string | null, scope: Scope} | null>} */
export const viewer = signal(null);
/** The Space: its id, name and configuration. @type {import('../vendor/signals.js').Signal<Record<string, any> | null>} */
export const space = signal(null);
/** Whether the server answers with the offline model. */
export const offlineModel = signal(false);

const RANK = { READ: 0, WRITE: 1, ADMIN: 2, OPERATOR: -1 };
export const canWrite = computed(() => RANK[viewer.value?.scope ?? 'READ'] >= RANK.WRITE);
export const canAdmin = computed(() => RANK[viewer.value?.scope ?? 'READ'] >= RANK.ADMIN);

/** The open session's id; it stands in the address, so that a reload and a link open it. */
export const openId = signal(idInAddress());
/** Which of its sides shows. */
export const tab = signal(/** @type {Tab} */ ('talk'));
/** A page about the whole Space, in place of a session. */
export const sidePage = signal(/** @type {null | 'events' | 'space'} */ (null));
/** Whether archived sessions show on the map. */
export const showArchived = signal(lasting.get('archived') !== 'hidden');
export const theme = signal(/** @type {Theme} */ (lasting.get('theme') ?? 'auto'));
/** Where the map is asked to fly; a new object each time. */
export const flight = signal(/** @type {{id: string} | null} */ (null));
/** How many sessions the Space has, as the map knows it; null until it was loaded. */
export const sessionCount = signal(/** @type {number | null} */ (null));

/** @param {string} id @param {Tab} [side] */
export function open(id, side = 'talk') {
  openId.value = id;
  tab.value = side;
  sidePage.value = null;
}

/** Closes what is open beside the map. */
export function close() {
  openId.value = null;
  sidePage.value = null;
}

/** @param {'events' | 'space'} page */
export function openSide(page) {
  openId.value = null;
  sidePage.value = page;
}

/** @param {string} id the star to fly to */
export function flyTo(id) {
  flight.value = { id };
}

function idInAddress() {
  const found = /^#s=(.+)$/.exec(location.hash);
  try {
    return found && decodeURIComponent(found[1]);
  } catch {
    // An address that nobody here wrote, such as `#s=%`.
    return null;
  }
}

addEventListener('hashchange', () => {
  const id = idInAddress();
  if (id !== openId.value) id ? open(id) : close();
});
effect(() => {
  const hash = openId.value === null ? '' : `#s=${encodeURIComponent(openId.value)}`;
  if (hash !== location.hash) history.replaceState(null, '', hash || location.pathname + location.search);
});
effect(() => lasting.set('archived', showArchived.value ? null : 'hidden'));
effect(() => {
  lasting.set('theme', theme.value === 'auto' ? null : theme.value);
  document.documentElement.dataset.theme = theme.value;
});
