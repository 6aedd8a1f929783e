/** The lines of the tree list: what of the forest is unfolded, in order from top to bottom. */
import { NONE, SKY } from './forest.js';

/**
 * `lines` are rows; a line `~row` stands for the children of `row` that are not here. `place` and `siblings`
 * (by row, counted from 1) are where a star stands among those that show.
 * @typedef {{lines: Int32Array, place: Int32Array, siblings: Int32Array}} Lines
 */

/**
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown
 * @param {(row: number) => boolean} isOpen whether its children show
 * @returns {Lines}
 */
export function linesOf(forest, shown, isOpen) {
  const { firstChild, next, parent, size } = forest;
  const lines = [];
  const place = new Int32Array(size);
  const siblings = new Int32Array(size);
  const enter = (/** @type {number} */ row) => nextShown(next, shown, firstChild[row]);
  let row = SKY;
  let child = enter(SKY);
  for (;;) {
    if (child !== NONE) {
      place[child] = ++siblings[row];
      lines.push(child);
      if (!isOpen(child)) {
        child = nextShown(next, shown, next[child]);
        continue;
      }
      row = child;
      child = enter(row);
      continue;
    }
    if (forest.hidden(row) > 0) lines.push(~row);
    if (row === SKY) break;
    child = nextShown(next, shown, next[row]);
    row = parent[row];
  }
  return { lines: Int32Array.from(lines), place, siblings };
}

/** @param {Int32Array} next @param {Uint8Array} shown @param {number} row */
function nextShown(next, shown, row) {
  while (row !== NONE && !shown[row]) row = next[row];
  return row;
}

/**
 * Whether a star has anything below it to unfold.
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown
 * @param {number} row
 */
export function hasBelow(forest, shown, row) {
  return forest.hidden(row) > 0 || nextShown(forest.next, shown, forest.firstChild[row]) !== NONE;
}

/**
 * Where an arrow leads from a star on the map: up to the parent, down to the first child, left and right among siblings.
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown
 * @param {number} row
 * @param {string} key
 * @returns {number} a row; the same where there is nothing
 */
export function stepFrom(forest, shown, row, key) {
  const { parent, firstChild, next, previous } = forest;
  /** @param {number} at @param {Int32Array} way */
  const along = (at, way) => {
    while (at !== NONE && !shown[at]) at = way[at];
    return at;
  };
  const targets = {
    ArrowUp: () => (parent[row] > SKY ? parent[row] : NONE),
    ArrowDown: () => along(firstChild[row], next),
    ArrowLeft: () => along(previous[row], previous),
    ArrowRight: () => along(next[row], next),
    Home: () => along(firstChild[SKY], next),
    End: () => along(forest.lastChild[SKY], previous),
  };
  const found = targets[/** @type {keyof typeof targets} */ (key)]?.() ?? NONE;
  return found === NONE ? row : found;
}
