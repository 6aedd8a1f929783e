/** Where stars are drawn while they move to where they stand. */

const MOVE_MS = 300;
const MOST = 5_000;
const NOTABLE = 0.5;

export class Motion {
  constructor() {
    /** @type {Float32Array} */
    this.x = new Float32Array(0);
    /** @type {Float32Array} */
    this.y = new Float32Array(0);
    /** Where they stand in the end. @type {{x: Float32Array, y: Float32Array}} */
    this.target = { x: this.x, y: this.y };
    /** @type {Uint8Array} */
    this.shown = new Uint8Array(0);
    /** @type {{x: Float32Array, y: Float32Array, begun: number} | null} */
    this.from = null;
  }

  /**
   * @param {{x: Float32Array, y: Float32Array}} target
   * @param {Int32Array} parent by row: a new star sets out from where its parent is
   * @param {Uint8Array} shown
   * @param {boolean} smooth
   * @param {number} now
   */
  moveTo(target, parent, shown, smooth, now) {
    const known = this.x.length;
    const [x, y] = [target.x.slice(), target.y.slice()];
    let moving = 0;
    for (let row = 1; row < x.length; row++) {
      if (!shown[row]) continue;
      if (row < known && this.shown[row]) [x[row], y[row]] = [this.x[row], this.y[row]];
      else if (parent[row] > 0) [x[row], y[row]] = [x[parent[row]], y[parent[row]]];
      if (Math.abs(x[row] - target.x[row]) + Math.abs(y[row] - target.y[row]) > NOTABLE) moving += 1;
    }
    this.target = target;
    this.shown = shown;
    this.from = smooth && moving > 0 && moving <= MOST ? { x, y, begun: now } : null;
    this.x = this.from ? x.slice() : target.x;
    this.y = this.from ? y.slice() : target.y;
  }

  /** @param {number} now @returns {boolean} whether they still move */
  step(now) {
    if (!this.from) return false;
    const done = Math.min(1, (now - this.from.begun) / MOVE_MS);
    const eased = done * done * (3 - 2 * done);
    if (done === 1) {
      [this.x, this.y, this.from] = [this.target.x, this.target.y, null];
      return true;
    }
    for (let row = 1; row < this.x.length; row++) {
      this.x[row] = this.from.x[row] + (this.target.x[row] - this.from.x[row]) * eased;
      this.y[row] = this.from.y[row] + (this.target.y[row] - this.from.y[row]) * eased;
    }
    return true;
  }
}
