/** What stands on the painted map for a moment: the star under the pointer with its neighbours, the selected one, new ones. */
import { FONT_SIZE, glowOf, paintLabel, radiusOnScreen, startTies, tie } from './draw.js';
import { ARCHIVED, MAIN, NONE } from './forest.js';
import { LINE, placeLabels, shortened } from './labels.js';

/** @typedef {import('./draw.js').View} View */
/** @typedef {import('./scene.js').Scene} Scene */
/** @typedef {import('./colours.js').Colours} Colours */

const GLOW_MS = 2_500;
const NAMED_NEIGHBOURS = 24;
const VEIL = 0.82;

/**
 * Veils the map and lights a star with all that is tied to it.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours
 * @param {(text: string) => number} measure @param {number} row
 */
export function paintNeighbours(context, scene, view, colours, measure, row) {
  const forest = /** @type {import('./forest.js').Forest} */ (scene.forest);
  const near = forest.neighbours(row).filter((other) => scene.shown[other]);
  context.globalAlpha = VEIL;
  context.fillStyle = colours.sky;
  context.fillRect(0, 0, view.width, view.height);
  context.globalAlpha = 1;
  paintEdgesOf(context, scene, view, colours, row, near);
  for (const other of [...near, row]) paintStar(context, scene, view, colours, other);
  const candidates = [row, ...near.slice(0, NAMED_NEIGHBOURS)].map((other) => {
    const [x, y] = placeOf(scene, view, other);
    return { row: other, text: forest.label[other], x, y, radius: radiusOnScreen(scene.radius[other], view.k) };
  });
  const { width, height } = view;
  const labels = placeLabels(candidates, measure, { width, height, most: candidates.length, tries: candidates.length });
  for (const label of labels) paintLabel(context, label, colours, colours.text);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours @param {number} row @param {number[]} near */
function paintEdgesOf(context, scene, view, colours, row, near) {
  const forest = /** @type {import('./forest.js').Forest} */ (scene.forest);
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const other of near) {
    if (forest.parent[other] !== row && forest.parent[row] !== other) continue;
    context.moveTo(...placeOf(scene, view, row));
    context.lineTo(...placeOf(scene, view, other));
  }
  context.stroke();
  startTies(context, colours.ref, 1);
  for (const to of forest.refs.get(row) ?? []) tie(context, scene, view, row, to);
  for (const from of forest.referencedBy.get(row) ?? []) tie(context, scene, view, from, row);
  context.stroke();
  startTies(context, colours.source, 1);
  if (forest.forkSource(row) !== NONE) tie(context, scene, view, forest.source[row], row);
  context.stroke();
  context.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours @param {number} row */
function paintStar(context, scene, view, colours, row) {
  const { status, role } = /** @type {import('./forest.js').Forest} */ (scene.forest);
  context.beginPath();
  context.arc(...placeOf(scene, view, row), Math.max(2.5, radiusOnScreen(scene.radius[row], view.k)), 0, 2 * Math.PI);
  context.fillStyle = status[row] === ARCHIVED ? colours['star-archived'] : role[row] === MAIN ? colours['star-main'] : colours.star;
  context.fill();
}

/**
 * The ring of the selected star.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours @param {number} row
 */
export function paintSelection(context, scene, view, colours, row) {
  const [x, y] = placeOf(scene, view, row);
  paintStar(context, scene, view, colours, row);
  context.beginPath();
  context.arc(x, y, ringRadius(scene, view, row), 0, 2 * Math.PI);
  context.strokeStyle = colours.accent;
  context.lineWidth = 2.5;
  context.stroke();
}

/**
 * The selected star's name on a ground of its own, so that it can be read over others.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours @param {number} row
 * @param {{x: number, y: number} | null} place from the star, where its name is painted already
 */
export function paintNamePlate(context, scene, view, colours, row, place) {
  const [x, y] = placeOf(scene, view, row);
  const text = shortened(/** @type {import('./forest.js').Forest} */ (scene.forest).label[row]);
  context.font = `${FONT_SIZE}px ${colours.font}`;
  const width = context.measureText(text).width;
  const middle = within(x + (place?.x ?? 0), width / 2 + 7, view.width, x);
  const top = within(y + (place?.y ?? ringRadius(scene, view, row) + 4) + LINE / 2, LINE / 2 + 3, view.height, y) - LINE / 2;
  context.beginPath();
  context.roundRect(middle - width / 2 - 6, top - 2, width + 12, LINE + 4, 6);
  context.fillStyle = colours.raised;
  context.fill();
  context.strokeStyle = colours.accent;
  context.lineWidth = 1;
  context.stroke();
  context.fillStyle = colours.text;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillText(text, middle, top + LINE / 2);
}

/**
 * @param {number} middle @param {number} half of its length @param {number} length of the map @param {number} star where its star is
 * @returns {number} where its middle is, so that no part is past the edge; of a star that is past it so is the name
 */
function within(middle, half, length, star) {
  return star < 0 || star > length ? middle : Math.max(half, Math.min(length - half, middle));
}

/** @param {Scene} scene @param {View} view @param {number} row */
function ringRadius(scene, view, row) {
  return Math.max(2.5, radiusOnScreen(scene.radius[row], view.k)) + 4;
}

/**
 * The glow of stars that came lately, which fades.
 * @param {CanvasRenderingContext2D} context @param {Scene} scene @param {View} view @param {Colours} colours
 * @param {Map<number, number>} births @param {number} now
 * @returns {boolean} whether any still glows
 */
export function paintBirths(context, scene, view, colours, births, now) {
  for (const [row, at] of births) {
    const left = 1 - (now - at) / GLOW_MS;
    if (left <= 0 || scene.shown[row] === 0) births.delete(row);
    if (left <= 0 || !scene.shown[row]) continue;
    const [x, y] = placeOf(scene, view, row);
    const reach = radiusOnScreen(scene.radius[row], view.k) * 2 + 26;
    context.globalAlpha = left;
    context.drawImage(glowOf(colours.accent), x - reach, y - reach, 2 * reach, 2 * reach);
    context.globalAlpha = 1;
  }
  return births.size > 0;
}

/** @param {Scene} scene @param {View} view @param {number} row @returns {[number, number]} */
function placeOf({ motion: { x, y } }, view, row) {
  return [x[row] * view.k + view.x, y[row] * view.k + view.y];
}
