/**
 * Where the stars stand. Each tree is a fan around its root: a star's wedge is as wide as it has
 * leaves below, its distance grows with its depth, and a level that is too full for a ring becomes
 * a band with even density. Trees stand like the seeds of a sunflower (pack.js). Linear, and never
 * recursive: forests are hundreds of levels deep.
 */
import { SKY } from './forest.js';
import { pack } from './pack.js';

/** Room between two neighbours of a level. */
export const SPACING = 30;
const GAP = 58;
const MARGIN = 30;
const WIDEST_FAN = 2.2;
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown by row: which stars count
 * @returns {{x: Float32Array, y: Float32Array}} by row
 */
export function layout(forest, shown) {
  const { size } = forest;
  const trees = forest.children(SKY).filter((row) => shown[row]);
  const places = fans(forest, shown, trees);
  const { x, y, rootOf } = places;
  const discs = discsOf(forest, shown, places, trees);
  const centres = pack(trees.map((root) => discs.radius[root] + MARGIN));
  const moveX = new Float64Array(size);
  const moveY = new Float64Array(size);
  trees.forEach((root, at) => {
    moveX[root] = centres.x[at] - discs.x[root];
    moveY[root] = centres.y[at] - discs.y[root];
  });
  for (let row = 1; row < size; row++) {
    if (!shown[row]) continue;
    x[row] += moveX[rootOf[row]];
    y[row] += moveY[rootOf[row]];
  }
  return { x, y };
}

/**
 * Each tree around its root.
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown
 * @param {number[]} trees
 */
function fans(forest, shown, trees) {
  const { size, parent, depth } = forest;
  const { middle, width, slot } = wedges(forest, shown, leavesBelow(forest, shown));
  const { start, inner, outer, rootOf } = levelsOfTrees(forest, shown, width, trees);
  const x = new Float32Array(size);
  const y = new Float32Array(size);
  for (let row = 1; row < size; row++) {
    if (!shown[row] || parent[row] === SKY) continue;
    const level = start[rootOf[row]] + depth[row] - depth[rootOf[row]];
    const [near, far] = [inner[level], outer[level]];
    const share = far > near ? (slot[row] * GOLDEN) % 1 : 0;
    const radius = Math.sqrt(near * near + share * (far * far - near * near));
    x[row] = radius * Math.cos(middle[row]);
    y[row] = radius * Math.sin(middle[row]);
  }
  return { x, y, rootOf };
}

/**
 * By root: the disc that its tree fills, around the middle of the tree's box.
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown
 * @param {{x: Float32Array, y: Float32Array, rootOf: Int32Array}} places
 * @param {number[]} trees
 */
function discsOf({ size }, shown, { x, y, rootOf }, trees) {
  const column = () => new Float64Array(size);
  const [left, right, top, bottom, radius] = [column(), column(), column(), column(), column()];
  for (let row = 1; row < size; row++) {
    if (!shown[row]) continue;
    const root = rootOf[row];
    left[root] = Math.min(left[root], x[row]);
    right[root] = Math.max(right[root], x[row]);
    top[root] = Math.min(top[root], y[row]);
    bottom[root] = Math.max(bottom[root], y[row]);
  }
  for (const root of trees) [left[root], top[root]] = [(left[root] + right[root]) / 2, (top[root] + bottom[root]) / 2];
  for (let row = 1; row < size; row++) {
    if (shown[row]) radius[rootOf[row]] = Math.max(radius[rootOf[row]], Math.hypot(x[row] - left[rootOf[row]], y[row] - top[rootOf[row]]));
  }
  return { x: left, y: top, radius };
}

/**
 * Which stars show: all, or those that are active or have an active one below.
 * @param {import('./forest.js').Forest} forest
 * @param {boolean} archived whether archived ones show
 * @returns {Uint8Array} by row
 */
export function shownRows(forest, archived) {
  const shown = forest.alive.slice(0, forest.size);
  if (archived) return shown;
  const { parent, status } = forest;
  for (let row = 1; row < forest.size; row++) if (status[row]) shown[row] = 0;
  for (let row = forest.size - 1; row > SKY; row--) if (shown[row]) shown[parent[row]] = 1;
  return shown;
}

/** @param {import('./forest.js').Forest} forest @param {Uint8Array} shown */
function leavesBelow({ size, parent }, shown) {
  const leaves = new Float64Array(size);
  for (let row = size - 1; row > SKY; row--) {
    if (!shown[row]) continue;
    leaves[row] ||= 1;
    leaves[parent[row]] += leaves[row];
  }
  return leaves;
}

/**
 * Angles: the middle and the width of each star's wedge, and the place of its middle among the leaves.
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown
 * @param {Float64Array} leaves
 */
function wedges({ size, parent, index, firstChild, next }, shown, leaves) {
  const middle = new Float64Array(size);
  const width = new Float64Array(size);
  const slot = new Float64Array(size);
  for (let row = 0; row < size; row++) {
    if (!shown[row]) continue;
    const isTree = row === SKY || parent[row] === SKY;
    // Each tree is turned another way, so that chains do not all point to the right.
    if (parent[row] === SKY) [middle[row], width[row]] = [(2 * Math.PI * index[row] * GOLDEN) % (2 * Math.PI), 2 * Math.PI];
    const fan = isTree ? 2 * Math.PI : Math.min(width[row], WIDEST_FAN);
    let angle = middle[row] - fan / 2;
    let place = parent[row] === SKY ? 0 : slot[row] - leaves[row] / 2;
    for (let child = firstChild[row]; child >= 0; child = next[child]) {
      if (!shown[child]) continue;
      width[child] = (fan * leaves[child]) / leaves[row];
      middle[child] = angle + width[child] / 2;
      slot[child] = place + leaves[child] / 2;
      angle += width[child];
      place += leaves[child];
    }
  }
  return { middle, width, slot };
}

/**
 * Of each tree the inner and outer radius of each level, at `start[root] … end[root] - 1`.
 * @param {import('./forest.js').Forest} forest
 * @param {Uint8Array} shown
 * @param {Float64Array} width
 * @param {number[]} trees
 */
function levelsOfTrees({ size, parent, depth }, shown, width, trees) {
  const rootOf = new Int32Array(size);
  const height = new Int32Array(size);
  for (let row = 1; row < size; row++) {
    if (!shown[row]) continue;
    const root = parent[row] === SKY ? row : rootOf[parent[row]];
    rootOf[row] = root;
    height[root] = Math.max(height[root], depth[row] - depth[root] + 1);
  }
  const start = new Int32Array(size);
  const end = new Int32Array(size);
  let total = 0;
  for (const root of trees) {
    start[root] = total;
    end[root] = total += height[root];
  }
  const count = new Float64Array(total);
  const span = new Float64Array(total);
  for (let row = 1; row < size; row++) {
    if (!shown[row]) continue;
    const level = start[rootOf[row]] + depth[row] - depth[rootOf[row]];
    count[level] += 1;
    span[level] += width[row];
  }
  const inner = new Float64Array(total);
  const outer = new Float64Array(total);
  for (const root of trees) {
    for (let level = start[root] + 1; level < end[root]; level++) {
      // The levels of a long chain stand closer the deeper they are.
      const near = outer[level - 1] + GAP / (1 + (level - start[root]) / 8) ** 0.75;
      const fits = count[level] * SPACING <= span[level] * near;
      inner[level] = near;
      outer[level] = fits ? near : Math.sqrt(near * near + (2 * count[level] * SPACING * SPACING) / span[level]);
    }
  }
  return { rootOf, start, end, inner, outer };
}
