/** Discs in the plane that do not overlap, the largest in the middle, along a sunflower's spiral. */

const TURN = Math.PI * (3 - Math.sqrt(5));
const LOOSE = 0.92;
const CLASS = 1.25;

/**
 * @param {number[]} radii
 * @returns {{x: Float64Array, y: Float64Array}} the centres, in the order of the radii. They depend on the radii's
 *   classes only, so that one that grows a little moves no other.
 */
export function pack(radii) {
  const size = radii.map((radius) => CLASS ** Math.ceil(Math.log(radius) / Math.log(CLASS)));
  const order = radii.map((_, at) => at).sort((a, b) => size[b] - size[a] || a - b);
  const x = new Float64Array(radii.length);
  const y = new Float64Array(radii.length);
  const taken = new Grid(size);
  let area = 0;
  let turns = 0;
  for (const at of order) {
    const radius = size[at];
    let distance = turns === 0 ? 0 : LOOSE * Math.sqrt(area + (radius * radius) / 2);
    const angle = TURN * turns++;
    const [ahead, aside] = [Math.cos(angle), Math.sin(angle)];
    while (!taken.isFree(distance * ahead, distance * aside, radius)) distance += radius / 4;
    x[at] = distance * ahead;
    y[at] = distance * aside;
    taken.put(x[at], y[at], radius);
    area += radius * radius;
  }
  return { x, y };
}

/** Which discs are where, by square cells of about the size of most. */
class Grid {
  /** @param {number[]} radii */
  constructor(radii) {
    const area = radii.reduce((sum, radius) => sum + 4 * radius * radius, 0);
    this.cell = Math.sqrt(area / Math.max(1, radii.length)) || 1;
    /** @type {Map<number, number[][]>} */
    this.discs = new Map();
  }

  /** @param {number} x @param {number} y @param {number} radius */
  * cells(x, y, radius) {
    const [left, right] = [Math.floor((x - radius) / this.cell), Math.floor((x + radius) / this.cell)];
    const [top, bottom] = [Math.floor((y - radius) / this.cell), Math.floor((y + radius) / this.cell)];
    for (let column = left; column <= right; column++) {
      for (let line = top; line <= bottom; line++) yield column * 2_097_152 + line;
    }
  }

  /** @param {number} x @param {number} y @param {number} radius */
  isFree(x, y, radius) {
    for (const key of this.cells(x, y, radius)) {
      for (const [x2, y2, radius2] of this.discs.get(key) ?? []) {
        if ((x - x2) ** 2 + (y - y2) ** 2 < (radius + radius2) ** 2) return false;
      }
    }
    return true;
  }

  /** @param {number} x @param {number} y @param {number} radius */
  put(x, y, radius) {
    for (const key of this.cells(x, y, radius)) {
      const discs = this.discs.get(key);
      if (discs) discs.push([x, y, radius]);
      else this.discs.set(key, [[x, y, radius]]);
    }
  }
}
