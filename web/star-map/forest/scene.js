/** What stands where: positions and sizes of the stars that show, which of them matter most, which is near a point. */
import { quadtree } from '../../vendor/d3-quadtree.js';
import { MAIN, NONE, SKY } from './forest.js';
import { layout } from './layout.js';
import { Motion } from './motion.js';

const SMALLEST = 3.2;
const LARGEST = 11;
const HEAVIEST = 2_999;

export class Scene {
  constructor() {
    this.motion = new Motion();
    /** @type {import('./forest.js').Forest | null} */
    this.forest = null;
    /** @type {Uint8Array} */
    this.shown = new Uint8Array(0);
    /** Radius of each star in the units of the map. */
    this.radius = new Float32Array(0);
    /** How many stars show. */
    this.count = 0;
    /** The shape of the forest that was laid out. */
    this.shape = 0;
    /** @type {Int32Array | null} */
    this.weighed = null;
    /** @type {import('../../vendor/d3-quadtree.js').Quadtree<number> | null} */
    this.places = null;
  }

  /**
   * @param {import('./forest.js').Forest} forest
   * @param {Uint8Array} shown
   * @param {boolean} smooth whether what moves does so in sight
   * @param {number} now
   * @returns {boolean} whether any stands elsewhere now
   */
  update(forest, shown, smooth, now) {
    const isOther = forest !== this.forest;
    const count = shown.reduce((sum, shows) => sum + shows, 0) - 1;
    const moves = isOther || forest.shape !== this.shape || count !== this.count;
    if (moves) {
      // Of another forest no row is the same.
      if (isOther) this.motion = new Motion();
      this.motion.moveTo(layout(forest, shown), forest.parent, shown, smooth && !isOther, now);
      this.places = null;
    }
    this.forest = forest;
    this.shape = forest.shape;
    this.shown = shown;
    this.count = count;
    this.radius = new Float32Array(forest.size);
    for (let row = 1; row < forest.size; row++) {
      if (!shown[row]) continue;
      const bulk = Math.min(LARGEST, SMALLEST + Math.sqrt(forest.turnCount[row]) * 1.1);
      this.radius[row] = forest.role[row] === MAIN ? bulk * 1.25 + 2 : bulk;
    }
    this.weighed = null;
    return moves;
  }

  /** Rows that show, the weightiest first: MAIN, then many turns, then many children, then near the root. */
  get byWeight() {
    if (this.weighed) return this.weighed;
    const { size } = /** @type {import('./forest.js').Forest} */ (this.forest);
    // Sorted by counting: weights are small whole numbers.
    const place = new Int32Array(HEAVIEST + 2);
    const lightness = new Int16Array(size);
    for (let row = 1; row < size; row++) {
      if (!this.shown[row]) continue;
      lightness[row] = HEAVIEST - this.#weight(row);
      place[lightness[row] + 1] += 1;
    }
    for (let weight = 1; weight <= HEAVIEST; weight++) place[weight] += place[weight - 1];
    const sorted = new Int32Array(this.count);
    for (let row = 1; row < size; row++) if (this.shown[row]) sorted[place[lightness[row]]++] = row;
    return (this.weighed = sorted);
  }

  /** @param {number} row @returns {number} up to HEAVIEST */
  #weight(row) {
    const { role, turnCount, childCount, depth } = /** @type {import('./forest.js').Forest} */ (this.forest);
    const bulk = 60 * Math.log2(1 + turnCount[row]) + 40 * Math.log2(1 + childCount[row]) + 60 / (1 + depth[row]);
    return Math.min(HEAVIEST, Math.round(role[row] * 1_000 + bulk));
  }

  /** The box that all stars that show are in. */
  get bounds() {
    const { x, y } = this.motion.target;
    const box = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
    for (let row = 1; row < this.radius.length; row++) {
      if (!this.shown[row]) continue;
      box.left = Math.min(box.left, x[row]);
      box.right = Math.max(box.right, x[row]);
      box.top = Math.min(box.top, y[row]);
      box.bottom = Math.max(box.bottom, y[row]);
    }
    return box;
  }

  /**
   * @param {number} x @param {number} y a place on the map
   * @param {number} reach how far a star may be from it
   * @returns {number} the nearest row, or NONE
   */
  nearest(x, y, reach) {
    if (!this.forest) return NONE;
    const { target } = this.motion;
    this.places ??= quadtree(this.#rows(), (row) => target.x[row], (row) => target.y[row]);
    return this.places.find(x, y, reach) ?? NONE;
  }

  #rows() {
    const rows = [];
    for (let row = SKY + 1; row < this.radius.length; row++) if (this.shown[row]) rows.push(row);
    return rows;
  }
}
