/** The map's canvas as a part of the page: what the pointer and the keys do on it. */
import { html, useEffect, useRef, useSignal, useSignalEffect } from '../html.js';
import { flight, open, openId, theme } from '../state.js';
import { sayRefusal } from '../shell/toasts.js';
import { t } from '../texts.js';
import { Card } from './card.js';
import { watchScheme } from './colours.js';
import { NONE, SKY } from './forest.js';
import { reach, readChildren } from './load.js';
import { births, forest, hovered, select, selectedRow, setUnfolded, shown, version } from './map.js';
import { stepFrom } from './rows.js';
import { Stage } from './stage.js';

const FINE_PX = 6;
const COARSE_PX = 18;
const PAN_PX = 60;
const ZOOM = 1.5;

/** @typedef {HTMLCanvasElement & {starAt?: (id: string) => {x: number, y: number} | null}} SkyCanvas */

/**
 * For tests and tools the canvas tells what it shows: `data-stars`, `data-labels`, `data-paints`
 * (how often the map was painted), `data-selected`, `data-hovered`, and `starAt(id)`, where a star
 * stands in the window.
 * @param {{stage: import('../../vendor/signals.js').Signal<Stage | null>}} props
 */
export function Canvas({ stage }) {
  const element = useRef(/** @type {SkyCanvas | null} */ (null));
  const moves = useSignal(0);
  useEffect(() => {
    const canvas = /** @type {SkyCanvas} */ (element.current);
    const made = new Stage(canvas, () => ({ hovered: hovered.peek(), selected: selectedRow(), births }), () => void (moves.value += 1));
    stage.value = made;
    canvas.starAt = (id) => windowPlace(made, id);
    const stop = watchScheme(() => made.restyle());
    return () => {
      stop();
      made.close();
      stage.value = null;
    };
  }, []);
  useSignalEffect(() => {
    version.value;
    if (stage.value && forest.value) stage.value.update(forest.value, shown.value);
  });
  useSignalEffect(() => {
    theme.value;
    stage.value?.restyle();
  });
  useSignalEffect(() => {
    const [over, at] = [hovered.value, selectedRow()];
    const canvas = /** @type {SkyCanvas} */ (element.current);
    canvas.dataset.hovered = over === NONE ? '' : (forest.value?.id[over] ?? '');
    canvas.dataset.selected = at === NONE ? '' : (forest.value?.id[at] ?? '');
    stage.value?.refresh();
  });
  useJourneys(stage);
  return html`
    <canvas ref=${element} class="sky-canvas" tabindex="0" role="application" aria-label=${t('sky.canvas')}
      aria-describedby="sky-keys" data-hovering=${hovered.value !== NONE}
      onPointerMove=${(/** @type {PointerEvent} */ event) => hover(stage.value, event)}
      onPointerLeave=${() => (hovered.value = NONE)}
      onClick=${(/** @type {MouseEvent} */ event) => click(stage.value, event)}
      onDblClick=${(/** @type {MouseEvent} */ event) => doubleClick(stage.value, event)}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => press(stage.value, event)}></canvas>
    <p id="sky-keys" class="unseen">${t('sky.keys')}</p>
    <${Card} stage=${stage} moves=${moves} />`;
}

/** The map follows what is opened and where it is asked to fly. @param {import('../../vendor/signals.js').Signal<Stage | null>} stage */
function useJourneys(stage) {
  const loaded = forest.value !== null;
  const travel = (/** @type {string | null} */ id, /** @type {'fly' | 'reveal'} */ how) => {
    if (id === null || !stage.peek() || !forest.peek()) return;
    const opened = openId.peek();
    let isLatest = true;
    // While its path is read another may be opened, or the map go.
    const come = (/** @type {number} */ row) => {
      const here = stage.peek();
      if (here && row !== NONE && isLatest && openId.peek() === opened) arrive(here, row, how);
    };
    reach(id).then(come).catch(sayRefusal);
    return () => void (isLatest = false);
  };
  useEffect(() => travel(openId.value, 'reveal'), [openId.value, loaded, stage.value]);
  useEffect(() => travel(flight.value?.id ?? null, 'fly'), [flight.value, loaded, stage.value]);
}

/** @param {Stage} stage @param {number} row @param {'fly' | 'reveal'} how */
function arrive(stage, row, how) {
  select(row);
  // A star that was just read has no place before the scene knows it.
  if (row >= stage.scene.shown.length) stage.update(/** @type {import('./forest.js').Forest} */ (forest.peek()), shown.peek());
  stage.show(row, how);
}

/** @param {Stage} stage @param {string} id */
function windowPlace(stage, id) {
  const row = forest.peek()?.find(id) ?? NONE;
  if (row === NONE || !stage.scene.shown[row]) return null;
  const box = stage.canvas.getBoundingClientRect();
  const [x, y] = stage.placeOf(row);
  return { x: box.left + x, y: box.top + y };
}

/** @param {Stage | null} stage @param {PointerEvent} event */
function hover(stage, event) {
  if (event.pointerType === 'touch' || event.buttons !== 0) return void (hovered.value = NONE);
  hovered.value = stage?.at(event.offsetX, event.offsetY, FINE_PX) ?? NONE;
}

/** @param {Stage | null} stage @param {MouseEvent} event */
function starUnder(stage, event) {
  const touched = /** @type {PointerEvent} */ (event).pointerType === 'touch';
  return stage?.at(event.offsetX, event.offsetY, touched ? COARSE_PX : FINE_PX) ?? NONE;
}

/** @param {Stage | null} stage @param {MouseEvent} event */
function click(stage, event) {
  const row = starUnder(stage, event);
  if (row === NONE) return;
  select(row);
  enter(row);
}

/** Opens a star; what lies hidden below it is read. @param {number} row */
export function enter(row) {
  const stars = /** @type {import('./forest.js').Forest} */ (forest.value);
  if (stars.hidden(row) > 0) readChildren(row);
  open(stars.id[row]);
}

/** @param {Stage | null} stage @param {MouseEvent} event */
function doubleClick(stage, event) {
  if (starUnder(stage, event) === NONE) stage?.camera.scaleBy(2, [event.offsetX, event.offsetY]);
}

/** @param {Stage | null} stage @param {KeyboardEvent} event */
function press(stage, event) {
  const stars = forest.value;
  if (!stage || !stars || event.ctrlKey || event.metaKey || event.altKey) return;
  const done = event.shiftKey ? pan(stage, event.key) : walk(stage, stars, event.key) || view(stage, event.key);
  if (done) event.preventDefault();
}

/** @param {Stage} stage @param {import('./forest.js').Forest} stars @param {string} key @returns {boolean} whether the key was meant */
function walk(stage, stars, key) {
  const row = selectedRow();
  if (key === 'Enter' || key === ' ') {
    if (row !== NONE) enter(row);
    return row !== NONE;
  }
  if (!/^Arrow|^Home$|^End$/.test(key)) return false;
  const to = row === NONE ? stepFrom(stars, shown.value, SKY, 'Home') : stepFrom(stars, shown.value, row, key);
  if (key === 'ArrowDown' && to === row && stars.hidden(row) > 0) {
    readChildren(row);
    setUnfolded(row, true);
  }
  if (to > SKY) {
    select(to);
    stage.show(to, 'reveal');
  }
  return true;
}

/** @param {Stage} stage @param {string} key */
function pan(stage, key) {
  const ways = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [1, 0], ArrowRight: [-1, 0] };
  const way = ways[/** @type {keyof typeof ways} */ (key)];
  if (way) stage.camera.panBy(way[0] * PAN_PX, way[1] * PAN_PX);
  return way !== undefined || view(stage, key);
}

/** @param {Stage} stage @param {string} key */
function view(stage, key) {
  if (key === '+' || key === '=') stage.camera.scaleBy(ZOOM);
  else if (key === '-' || key === '_') stage.camera.scaleBy(1 / ZOOM);
  else if (key === '0') stage.fit(true);
  else return false;
  return true;
}
