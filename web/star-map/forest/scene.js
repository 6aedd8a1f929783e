/** What stands where: positions and sizes of the stars that show, which of them matter most, which is near a point. */
import { quadtree } from '../../vendor/d3-quadtree.js';
import { MAIN, NONE, SKY } from './forest.js';
import { layout } from './layout.js';
import { Motion } from './motion.js';

const SMALLEST = 3.2;
const LARGEST = 11;

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
    const { size, role, turnCount, childCount, depth } = /** @type {import('./forest.js').Forest} */ (this.forest);
    const keys = new Float64Array(this.count);
    let at = 0;
    for (let row = 1; row < size; row++) {
      if (!this.shown[row]) continue;
      const weight = Math.min(1_999, role[row] * 1_000 + 60 * Math.log2(1 + turnCount[row]) + 40 * Math.log2(1 + childCount[row]) + 60 / (1 + depth[row]));
      keys[at++] = Math.round(2_000 - weight) * 2 ** 32 + row;
    }
    keys.sort();
    return (this.weighed = Int32Array.from(keys, (key) => key % 2 ** 32));
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
