/**
 * The canvas at work: it paints when something changed, and only then. The map is painted on a
 * still; what lies on top for a moment is drawn over it. Where painting is slow, the still is
 * moved while a gesture lasts, and painted anew after it.
 */
import { Camera, calm } from './camera.js';
import { coloursOf } from './colours.js';
import { FONT_SIZE, paint, radiusOnScreen } from './draw.js';
import { NONE } from './forest.js';
import { paintBirths, paintNamePlate, paintNeighbours, paintSelection } from './overlay.js';
import { Scene } from './scene.js';

const FRAME_MS = 17;
const SLOW_MS = 14;
// So few stars are painted at once anywhere; a long frame has another cause.
const QUICK = 2_000;
const REST_MS = 90;
const MOST_WIDTHS = 20_000;

/** @typedef {{hovered: number, selected: number, births: Map<number, number>}} Marks rows, NONE for none */

export class Stage {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {() => Marks} marks what is to be marked now
   * @param {() => void} onMove told when the map moved under what lies on it
   */
  constructor(canvas, marks, onMove) {
    this.canvas = canvas;
    this.marks = marks;
    this.scene = new Scene();
    this.context = contextOf(canvas);
    this.still = document.createElement('canvas');
    this.stillContext = contextOf(this.still);
    /** The view that the still was painted in. @type {import('./draw.js').View | null} */
    this.stillView = null;
    /** The names that are painted on it. @type {import('./labels.js').Label[]} */
    this.labels = [];
    this.cost = 0;
    this.fresh = false;
    this.frame = 0;
    this.rest = 0;
    this.moving = false;
    /** @type {Map<string, number>} */
    this.widths = new Map();
    this.measure = (/** @type {string} */ text) => this.#measure(text);
    this.camera = new Camera(canvas, {
      moved: () => {
        this.#gesture();
        onMove();
      },
      rested: () => this.#gesture(),
    });
    this.colours = coloursOf(canvas);
    this.observer = new ResizeObserver(() => this.#resize());
    this.observer.observe(canvas);
    canvas.dataset.paints = '0';
  }

  /** @param {import('./forest.js').Forest} forest @param {Uint8Array} shown */
  update(forest, shown) {
    const first = this.scene.forest === null;
    const moved = this.scene.update(forest, shown, !first && !calm(), performance.now());
    this.canvas.dataset.stars = String(this.scene.count);
    if (moved && !this.camera.touched) this.fit(!first);
    this.repaint();
  }

  /** Reads the colours again. */
  restyle() {
    this.colours = coloursOf(this.canvas);
    this.repaint();
  }

  /** Paints all anew, soon. */
  repaint() {
    this.fresh = false;
    this.refresh();
  }

  /** Draws the marks anew, soon. */
  refresh() {
    this.frame ||= requestAnimationFrame((now) => this.#draw(now));
  }

  /** @param {boolean} smooth */
  fit(smooth) {
    if (this.scene.count === 0) return;
    this.camera.fit(this.scene.bounds, smooth);
    this.camera.touched = false;
  }

  /** @param {number} row @param {'fly' | 'reveal'} how */
  show(row, how) {
    const { x, y } = this.scene.motion.target;
    if (!this.scene.shown[row]) return;
    if (how === 'fly') this.camera.flyTo(x[row], y[row]);
    else this.camera.reveal(x[row], y[row], true);
  }

  /**
   * @param {number} x @param {number} y on the canvas
   * @param {number} tolerance in pixels around a star
   * @returns {number} the star there, or NONE
   */
  at(x, y, tolerance) {
    const { k } = this.camera.transform;
    const row = this.scene.nearest(...this.camera.toMap(x, y), (tolerance + 15) / k);
    if (row === NONE) return NONE;
    const [left, top] = this.placeOf(row);
    return Math.hypot(left - x, top - y) <= tolerance + radiusOnScreen(this.scene.radius[row], k) ? row : NONE;
  }

  /** @param {number} row @returns {[number, number]} where it will stand on the canvas */
  placeOf(row) {
    const { x, y } = this.scene.motion.target;
    return this.camera.transform.apply([x[row], y[row]]);
  }

  close() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.rest);
    this.observer.disconnect();
    this.camera.close();
  }

  #gesture() {
    this.moving = true;
    clearTimeout(this.rest);
    this.rest = window.setTimeout(() => {
      this.moving = false;
      if (!this.fresh) this.refresh();
    }, REST_MS);
    this.repaint();
  }

  #resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (width === 0 || height === 0) return;
    const ratio = window.devicePixelRatio;
    for (const { canvas } of [this.context, this.stillContext]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.camera.resize(width, height);
    if (!this.camera.touched) this.fit(false);
    const { selected } = this.marks();
    if (selected !== NONE && this.camera.touched) this.show(selected, 'reveal');
    this.stillView = null;
    this.repaint();
  }

  /** @param {number} now */
  #draw(now) {
    this.frame = 0;
    const moved = this.scene.motion.step(now);
    if (moved || !this.fresh) this.#paintStill(now);
    this.#blit();
    const glowing = this.#paintMarks(now);
    if (moved) this.repaint();
    else if (glowing) this.refresh();
  }

  /** @param {number} now */
  #paintStill(now) {
    if (this.moving && this.scene.count > QUICK && this.cost > SLOW_MS && this.stillView) return;
    const view = this.camera.view;
    this.stillContext.setTransform(window.devicePixelRatio, 0, 0, window.devicePixelRatio, 0, 0);
    this.labels = paint(this.stillContext, this.scene, view, this.colours, this.measure);
    // The browser draws what was asked for after this frame's script: only the next frame tells how long it took.
    requestAnimationFrame((next) => (this.cost = next - now - FRAME_MS));
    this.stillView = view;
    this.fresh = true;
    this.canvas.dataset.paints = String(Number(this.canvas.dataset.paints) + 1);
    this.canvas.dataset.labels = String(this.labels.length);
  }

  #blit() {
    const { k, x, y, width, height } = this.camera.view;
    const from = this.stillView ?? this.camera.view;
    const scale = k / from.k;
    this.context.setTransform(window.devicePixelRatio, 0, 0, window.devicePixelRatio, 0, 0);
    this.context.clearRect(0, 0, width, height);
    this.context.drawImage(this.still, x - from.x * scale, y - from.y * scale, from.width * scale, from.height * scale);
  }

  /** @param {number} now */
  #paintMarks(now) {
    const { hovered, selected, births } = this.marks();
    const view = this.camera.view;
    if (hovered !== NONE && this.scene.shown[hovered]) paintNeighbours(this.context, this.scene, view, this.colours, this.measure, hovered);
    if (selected !== NONE && this.scene.shown[selected]) {
      if (hovered === NONE) paintNamePlate(this.context, this.scene, view, this.colours, selected, this.#placeOfName(selected));
      paintSelection(this.context, this.scene, view, this.colours, selected);
    }
    return paintBirths(this.context, this.scene, view, this.colours, births, now);
  }

  /** @param {number} row @returns {{x: number, y: number} | null} where its name is painted, from the star */
  #placeOfName(row) {
    const label = this.labels.find((each) => each.row === row);
    if (!label || !this.stillView) return null;
    const { x, y } = this.scene.motion;
    const { k, x: left, y: top } = this.stillView;
    return { x: label.x - x[row] * k - left, y: label.y - y[row] * k - top };
  }

  /** @param {string} text */
  #measure(text) {
    const known = this.widths.get(text);
    if (known !== undefined) return known;
    this.context.font = `${FONT_SIZE}px ${this.colours.font}`;
    const width = this.context.measureText(text).width;
    if (this.widths.size > MOST_WIDTHS) this.widths.clear();
    this.widths.set(text, width);
    return width;
  }
}

/** @param {HTMLCanvasElement} canvas */
function contextOf(canvas) {
  return /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
}
