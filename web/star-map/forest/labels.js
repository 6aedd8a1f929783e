/** Which names show: the weightier first, none over another. */

/** @typedef {{row: number, text: string, x: number, y: number, width: number}} Label x: its middle, y: its upper edge */
/** @typedef {{row: number, text: string, x: number, y: number, radius: number}} Candidate a star on the screen */

export const LINE = 16;
const GAP = 3;
const CELL = 32;
const LONGEST = 26;
const OVER_STARS = 12;

/**
 * @param {Iterable<Candidate>} candidates the weightiest first
 * @param {(text: string) => number} measure the width of a text
 * @param {{width: number, height: number, most: number, tries: number}} bounds of the screen; labels at most, candidates at most
 * @returns {Label[]} beside its star each, where no other name is, and no star; the first few also over stars
 */
export function placeLabels(candidates, measure, { width, height, most, tries }) {
  const stars = [];
  for (const candidate of candidates) {
    if (stars.length === tries) break;
    stars.push(candidate);
  }
  const [names, dots] = [new Boxes(width, height), new Boxes(width, height)];
  for (const { x, y, radius } of stars) dots.put(x - radius, y - radius, 2 * radius, 2 * radius);
  /** @type {Label[]} */
  const placed = [];
  stars.every(({ row, text, x, y, radius }, rank) => {
    const short = shortened(text);
    const wide = measure(short);
    const aside = radius + GAP + wide / 2;
    const places = [[x, y + radius + GAP], [x, y - radius - GAP - LINE], [x + aside, y - LINE / 2], [x - aside, y - LINE / 2]];
    const inside = places.filter(([middle, top]) => top >= 0 && top + LINE <= height && middle >= wide / 2 && middle + wide / 2 <= width);
    const fits = (/** @type {number[]} */ [middle, top]) => names.isFree(middle - wide / 2, top, wide, LINE);
    const clear = (/** @type {number[]} */ [middle, top]) => dots.isFree(middle - wide / 2, top, wide, LINE);
    const place = inside.find((each) => fits(each) && clear(each)) ?? (rank < OVER_STARS ? inside.find(fits) : undefined);
    if (place) {
      names.put(place[0] - wide / 2, place[1], wide, LINE);
      placed.push({ row, text: short, x: place[0], y: place[1], width: wide });
    }
    return placed.length < most;
  });
  return placed;
}

/** @param {string} text @returns {string} in one line of bounded width; wide characters count twice */
export function shortened(text) {
  let room = LONGEST;
  let kept = '';
  for (const character of text) {
    room -= /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(character) ? 2 : 1;
    if (room < 0) return `${kept.trimEnd()}…`;
    kept += /\s/.test(character) ? ' ' : character;
  }
  return kept;
}

/** Boxes on the screen that do not overlap, found by cells. */
class Boxes {
  /** @param {number} width @param {number} height */
  constructor(width, height) {
    this.columns = Math.ceil(width / CELL) + 1;
    this.lines = Math.ceil(height / CELL) + 1;
    /** @type {number[][][]} */
    this.cells = Array.from({ length: this.columns * this.lines }, () => []);
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  isFree(x, y, width, height) {
    const box = [x, y, x + width, y + height];
    return !this.#cellsOf(x, y, width, height).some((cell) => cell.some((other) => overlap(box, other)));
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  put(x, y, width, height) {
    for (const cell of this.#cellsOf(x, y, width, height)) cell.push([x, y, x + width, y + height]);
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  #cellsOf(x, y, width, height) {
    const cells = [];
    const [right, bottom] = [Math.min(this.columns - 1, Math.floor((x + width) / CELL)), Math.min(this.lines - 1, Math.floor((y + height) / CELL))];
    for (let line = Math.max(0, Math.floor(y / CELL)); line <= bottom; line++) {
      for (let column = Math.max(0, Math.floor(x / CELL)); column <= right; column++) cells.push(this.cells[line * this.columns + column]);
    }
    return cells;
  }
}

/** @param {number[]} a @param {number[]} b */
function overlap(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}
