/** Paints the whole map: edges, stars, names. What stands on it for a moment is in overlay.js. */
import { ARCHIVED, MAIN, NONE, SKY } from './forest.js';
import { LINE, placeLabels } from './labels.js';

/**
 * How the map lies on the screen: `k` pixels a unit, its origin at x, y; in CSS pixels.
 * @typedef {{k: number, x: number, y: number, width: number, height: number}} View
 */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./colours.js').Colours} Colours */

const TINY = 1.4;
const TIES_FROM = 2.2;
const FAINTEST = 0.15;
const STRONGEST = 0.7;
const SHORTEST_EDGE = 2;
const LONGEST_BOW = 2_500;
const EDGES_A_PATH = 400;
const GLOWS = 900;
const LARGEST_RADIUS = 15;
// Stars shrink less than the map does, so that they can be seen from afar.
const SHRINK = 0.6;
const ROOM_OF_A_LABEL = 7_000;
const ROOM_AFAR = 22_000;
const TRIES = 600;
export const FONT_SIZE = 12;

/** @param {number} radius in units of the map @param {number} k @returns {number} pixels */
export function radiusOnScreen(radius, k) {
  return Math.min(LARGEST_RADIUS, Math.max(0.6, radius * Math.min(k, 1.8) ** SHRINK));
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {Scene} scene
 * @param {View} view
 * @param {Colours} colours
 * @param {(text: string) => number} measure
 * @returns {import('./labels.js').Label[]} the names that show
 */
export function paint(context, scene, view, colours, measure) {
  context.clearRect(0, 0, view.width, view.height);
  if (!scene.forest) return [];
  paintEdges(context, scene, view, colours);
  paintTies(context, scene, view, colours);
  paintStars(context, scene, view, colours);
  return paintLabels(context, scene, view, colours, measure);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours */
function paintEdges(context, { forest, shown, motion: { x, y } }, view, colours) {
  const { size, parent } = /** @type {import('./forest.js').Forest} */ (forest);
  const { k, width, height } = view;
  context.strokeStyle = colours.edge;
  context.lineWidth = Math.min(1.5, Math.max(0.5, k * 1.2));
  context.setLineDash([]);
  context.beginPath();
  let drawn = 0;
  for (let row = 1; row < size; row++) {
    const from = parent[row];
    if (!shown[row] || from === SKY) continue;
    const x1 = x[from] * k + view.x;
    const y1 = y[from] * k + view.y;
    const x2 = x[row] * k + view.x;
    const y2 = y[row] * k + view.y;
    if (Math.abs(x1 - x2) + Math.abs(y1 - y2) < SHORTEST_EDGE) continue;
    if ((x1 < 0 && x2 < 0) || (y1 < 0 && y2 < 0) || (x1 > width && x2 > width) || (y1 > height && y2 > height)) continue;
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    // One path of very many lines is slower than many paths.
    if (++drawn % EDGES_A_PATH) continue;
    context.stroke();
    context.beginPath();
  }
  context.stroke();
}

/** Cross-links, and the sources of forks that hang elsewhere. @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours */
function paintTies(context, scene, view, colours) {
  const forest = /** @type {import('./forest.js').Forest} */ (scene.forest);
  // From afar they would hide the stars; a star's own show when the pointer is on it.
  const alpha = Math.min(STRONGEST, view.k * TIES_FROM);
  if (alpha < FAINTEST) return;
  context.globalAlpha = alpha;
  startTies(context, colours.ref, view.k);
  for (const [from, targets] of forest.refs) for (const to of targets) tie(context, scene, view, from, to);
  context.stroke();
  startTies(context, colours.source, view.k);
  for (let row = 1; row < forest.size; row++) {
    if (forest.source[row] !== NONE && forest.forkSource(row) !== NONE) tie(context, scene, view, forest.source[row], row);
  }
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {string} colour @param {number} k */
export function startTies(context, colour, k) {
  context.strokeStyle = colour;
  context.lineWidth = Math.min(1.3, Math.max(0.6, k));
  context.setLineDash([4, 4]);
  context.beginPath();
}

/**
 * A bow from one star to another.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {number} from @param {number} to
 */
export function tie(context, { shown, motion: { x, y } }, { k, x: left, y: top, width, height }, from, to) {
  if (!shown[from] || !shown[to]) return;
  const [x1, y1, x2, y2] = [x[from] * k + left, y[from] * k + top, x[to] * k + left, y[to] * k + top];
  const length = Math.hypot(x2 - x1, y2 - y1);
  if (length < 4 * SHORTEST_EDGE) return;
  const seen = (/** @type {number} */ at, /** @type {number} */ down) => at > 0 && down > 0 && at < width && down < height;
  const fromSeen = seen(x1, y1);
  if (!fromSeen && !seen(x2, y2)) return;
  if (length < LONGEST_BOW) {
    context.moveTo(x1, y1);
    context.quadraticCurveTo((x1 + x2) / 2 + (y2 - y1) * 0.18, (y1 + y2) / 2 - (x2 - x1) * 0.18, x2, y2);
    return;
  }
  // Dashes are made far beyond the screen as well, which takes very long: only the way out of sight is drawn.
  const share = LONGEST_BOW / length;
  const [x0, y0, toX, toY] = fromSeen ? [x1, y1, x2, y2] : [x2, y2, x1, y1];
  context.moveTo(x0, y0);
  context.lineTo(x0 + (toX - x0) * share, y0 + (toY - y0) * share);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours */
function paintStars(context, scene, view, colours) {
  const { forest, shown, radius, motion: { x, y } } = scene;
  const { size, status, role } = /** @type {import('./forest.js').Forest} */ (forest);
  const { k, width, height } = view;
  const columns = Math.ceil(width) + 1;
  // Archived ones first, MAIN last, so that these lie on top.
  const kinds = [new Kind(colours['star-archived']), new Kind(colours.star), new Kind(colours['star-main'])];
  const painted = new Uint8Array(columns * (Math.ceil(height) + 1));
  for (let row = 1; row < size; row++) {
    if (!shown[row]) continue;
    const cx = x[row] * k + view.x;
    const cy = y[row] * k + view.y;
    if (cx < -20 || cy < -20 || cx > width + 20 || cy > height + 20) continue;
    const kind = kinds[status[row] === ARCHIVED ? 0 : role[row] === MAIN ? 2 : 1];
    const r = radiusOnScreen(radius[row], k);
    if (r >= TINY) {
      kind.large.push(row, cx, cy, r);
      continue;
    }
    if (cx < 0 || cy < 0 || cx > width || cy > height) continue;
    const pixel = (cy | 0) * columns + (cx | 0);
    if (painted[pixel]) continue;
    painted[pixel] = 1;
    kind.tiny.push(cx, cy, r);
  }
  const glow = kinds.reduce((sum, kind) => sum + kind.large.length / 4, 0) <= GLOWS && colours.isDark;
  for (const kind of kinds) {
    if (glow && kind !== kinds[0]) kind.paintGlow(context);
    kind.paintTiny(context);
    kind.paintLarge(context, kind === kinds[0] ? colours.sky : null);
  }
  paintHidden(context, scene, kinds, colours, k);
}

/** Stars of one colour. */
class Kind {
  /** @param {string} colour */
  constructor(colour) {
    this.colour = colour;
    /** x, y, radius, one after the other. @type {number[]} */
    this.tiny = [];
    /** row, x, y, radius. @type {number[]} */
    this.large = [];
  }

  /** @param {CanvasRenderingContext2D} context */
  paintTiny(context) {
    context.fillStyle = this.colour;
    for (let at = 0; at < this.tiny.length; at += 3) {
      // On whole pixels, which is much faster.
      const size = Math.max(1, Math.round(2 * this.tiny[at + 2]));
      context.fillRect(Math.round(this.tiny[at] - size / 2), Math.round(this.tiny[at + 1] - size / 2), size, size);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {string | null} hollow the ground of stars that are rings */
  paintLarge(context, hollow) {
    context.beginPath();
    for (let at = 0; at < this.large.length; at += 4) {
      const [x, y, r] = [this.large[at + 1], this.large[at + 2], this.large[at + 3]];
      context.moveTo(x + r, y);
      context.arc(x, y, r, 0, 2 * Math.PI);
    }
    context.fillStyle = hollow ?? this.colour;
    context.fill();
    if (!hollow) return;
    context.strokeStyle = this.colour;
    context.lineWidth = 1.4;
    context.stroke();
  }

  /** @param {CanvasRenderingContext2D} context */
  paintGlow(context) {
    if (this.large.length === 0) return;
    const sprite = glowOf(this.colour);
    for (let at = 0; at < this.large.length; at += 4) {
      const reach = this.large[at + 3] * 3;
      context.drawImage(sprite, this.large[at + 1] - reach, this.large[at + 2] - reach, 2 * reach, 2 * reach);
    }
  }
}

/** @type {Map<string, HTMLCanvasElement>} */
const sprites = new Map();

/** @param {string} colour @returns {HTMLCanvasElement} a soft light */
export function glowOf(colour) {
  const known = sprites.get(colour);
  if (known) return known;
  const sprite = document.createElement('canvas');
  sprite.width = sprite.height = 64;
  const context = /** @type {CanvasRenderingContext2D} */ (sprite.getContext('2d'));
  const light = context.createRadialGradient(32, 32, 0, 32, 32, 32);
  light.addColorStop(0, `${colour}66`);
  light.addColorStop(0.4, `${colour}22`);
  light.addColorStop(1, `${colour}00`);
  context.fillStyle = light;
  context.fillRect(0, 0, 64, 64);
  sprites.set(colour, sprite);
  return sprite;
}

/**
 * A ring and "+n" where a star has children that are not here.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {Kind[]} kinds @param {Colours} colours @param {number} k
 */
function paintHidden(context, { forest }, kinds, colours, k) {
  const stars = /** @type {import('./forest.js').Forest} */ (forest);
  context.strokeStyle = colours.quiet;
  context.fillStyle = colours.quiet;
  context.font = `600 10px ${colours.font}`;
  context.textAlign = 'left';
  context.textBaseline = 'middle';
  context.lineWidth = 1;
  for (const { large } of kinds) {
    for (let at = 0; at < large.length; at += 4) {
      const hidden = stars.hidden(large[at]);
      if (hidden === 0) continue;
      const [x, y, r] = [large[at + 1], large[at + 2], large[at + 3]];
      context.beginPath();
      context.arc(x, y, r + 2.5, 0, 2 * Math.PI);
      context.stroke();
      if (k > 0.45) context.fillText(`+${hidden}`, x + r + 5, y);
    }
  }
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours @param {(text: string) => number} measure */
function paintLabels(context, scene, view, colours, measure) {
  const { width, height } = view;
  const room = Math.min(ROOM_AFAR, ROOM_OF_A_LABEL / Math.min(1, view.k));
  const most = Math.ceil((width * height) / room);
  const labels = placeLabels(onScreen(scene, view), measure, { width, height, most, tries: TRIES });
  const { role, status } = /** @type {import('./forest.js').Forest} */ (scene.forest);
  for (const label of labels) paintLabel(context, label, colours, status[label.row] === ARCHIVED ? colours.quiet : role[label.row] === MAIN ? colours['star-main'] : colours.text);
  return labels;
}

/** @param {CanvasRenderingContext2D} context @param {import('./labels.js').Label} label @param {Colours} colours @param {string} colour */
export function paintLabel(context, { text, x, y }, colours, colour) {
  context.font = `${FONT_SIZE}px ${colours.font}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.lineJoin = 'round';
  context.strokeStyle = colours.sky;
  context.lineWidth = 3;
  context.strokeText(text, x, y + LINE / 2);
  context.fillStyle = colour;
  context.fillText(text, x, y + LINE / 2);
}

/** @param {Scene} scene @param {View} view @returns {Iterable<import('./labels.js').Candidate>} */
function* onScreen(scene, { k, x: left, y: top, width, height }) {
  const { forest, radius, motion: { x, y } } = scene;
  for (const row of scene.byWeight) {
    const [cx, cy] = [x[row] * k + left, y[row] * k + top];
    if (cx < 0 || cy < 0 || cx > width || cy > height) continue;
    yield { row, text: /** @type {import('./forest.js').Forest} */ (forest).label[row], x: cx, y: cy, radius: radiusOnScreen(radius[row], k) };
  }
}
