/** What the parts of the map share: the forest, what of it shows, and which star is meant. */
import { computed, signal } from '../html.js';
import { sessionCount, showArchived } from '../state.js';
import { NONE, SKY } from './forest.js';
import { shownRows } from './layout.js';

/** Beyond that many stars the list begins folded. */
export const FOLDED_FROM = 5_000;
const SETTLE_MS = 30;

/** @typedef {import('./forest.js').Forest} Forest */

/** Null until it is loaded. @type {import('../../vendor/signals.js').Signal<Forest | null>} */
export const forest = signal(null);
/** Grows with each change of the forest. */
export const version = signal(0);
/** By row: which stars show. */
export const shown = computed(() => {
  version.value;
  return forest.value ? shownRows(forest.value, showArchived.value) : new Uint8Array(0);
});
/** The star that the keyboard is at, on the map and in the list. @type {import('../../vendor/signals.js').Signal<string | null>} */
export const selectedId = signal(null);
/** The star under the pointer; NONE where there is none. */
export const hovered = signal(NONE);
/** Stars that came by themselves lately, and when. @type {Map<number, number>} */
export const births = new Map();
/** Stars that were folded or unfolded by hand. @type {import('../../vendor/signals.js').Signal<ReadonlyMap<string, boolean>>} */
const folds = signal(new Map());

/** @returns {number} the selected row that shows, or NONE */
export function selectedRow() {
  const row = selectedId.value === null ? NONE : (forest.value?.find(selectedId.value) ?? NONE);
  return row !== NONE && shown.value[row] ? row : NONE;
}

let pending = 0;

/** Forgets all that is known of it: another Space may be next. */
export function dropForest() {
  clearTimeout(pending);
  pending = 0;
  births.clear();
  hovered.value = NONE;
  selectedId.value = null;
  folds.value = new Map();
  forest.value = null;
  version.value += 1;
}

/** @param {Forest} next takes the place of what was there */
export function replaceForest(next) {
  births.clear();
  hovered.value = NONE;
  forest.value = next;
  version.value += 1;
  sessionCount.value = next.count + Math.max(0, next.hidden(SKY));
}

/** The forest has changed: whoever draws hears of it soon, once for all that comes together. */
export function changed() {
  pending ||= window.setTimeout(() => {
    pending = 0;
    version.value += 1;
    sessionCount.value = forest.value && forest.value.count + forest.value.hidden(SKY);
  }, SETTLE_MS);
}

/** @param {number} row @returns {boolean} whether its children show in the list */
export function isUnfolded(row) {
  const stars = /** @type {Forest} */ (forest.value);
  return folds.value.get(stars.id[row]) ?? (stars.count <= FOLDED_FROM && stars.loaded[row] > 0);
}

/** @param {number} row @param {boolean} open */
export function setUnfolded(row, open) {
  const stars = /** @type {Forest} */ (forest.value);
  folds.value = new Map(folds.value).set(stars.id[row], open);
}

/** @param {number} row the star to be at; all above it are unfolded */
export function select(row) {
  const stars = /** @type {Forest} */ (forest.value);
  const folded = [];
  for (let above = stars.parent[row]; above > SKY; above = stars.parent[above]) if (!isUnfolded(above)) folded.push(stars.id[above]);
  if (folded.length) folds.value = new Map([...folds.value, ...folded.map((id) => /** @type {const} */ ([id, true]))]);
  selectedId.value = stars.id[row];
}
