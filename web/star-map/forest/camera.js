/** How the map lies on the screen: moved by hand (d3-zoom), fitted, flown. */
import { select } from '../../vendor/d3-selection.js';
import { zoom, zoomIdentity } from '../../vendor/d3-zoom.js';

const CLOSEST = 12;
const FIT_CLOSEST = 1.5;
const FLIGHT_MS = 600;
const FLIGHT_SCALE = 1;
const EDGE = 56;
const ASIDE = 0.07;
const ABOVE = 84;
const BELOW = 72;

/** Whether the reader asked for little motion. */
export function calm() {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

export class Camera {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {{moved: () => void, rested: () => void}} told of each step and of the end of a movement
   */
  constructor(canvas, { moved, rested }) {
    this.size = { width: 1, height: 1 };
    /** Whether somebody moved it, so that it no longer fits by itself. */
    this.touched = false;
    this.zoom = /** @type {import('../../vendor/d3-zoom.js').ZoomBehavior<HTMLCanvasElement, unknown>} */ (zoom())
      .clickDistance(5)
      .on('zoom', (event) => {
        if (event.sourceEvent) this.touched = true;
        this.transform = event.transform;
        moved();
      })
      .on('end', rested);
    this.selection = /** @type {import('../../vendor/d3-selection.js').Selection<HTMLCanvasElement, unknown, null, undefined>} */ (select(canvas));
    this.selection.call(this.zoom).on('dblclick.zoom', null);
    this.transform = zoomIdentity;
  }

  /** @returns {import('./draw.js').View} */
  get view() {
    return { k: this.transform.k, x: this.transform.x, y: this.transform.y, ...this.size };
  }

  /** Keeps the middle where it is. @param {number} width @param {number} height */
  resize(width, height) {
    const before = this.size;
    this.size = { width, height };
    this.zoom.extent([[0, 0], [width, height]]);
    if (before.width > 1) this.#go(zoomIdentity.translate(this.transform.x + (width - before.width) / 2, this.transform.y + (height - before.height) / 2).scale(this.transform.k), false);
  }

  /** @param {number} x @param {number} y on the screen @returns {[number, number]} on the map */
  toMap(x, y) {
    return this.transform.invert([x, y]);
  }

  /** @param {{left: number, top: number, right: number, bottom: number}} box of the map @param {boolean} smooth */
  fit(box, smooth) {
    const aside = this.size.width * ASIDE;
    const width = Math.max(120, this.size.width - 2 * aside);
    const height = Math.max(120, this.size.height - ABOVE - BELOW);
    const k = Math.min(FIT_CLOSEST, width / Math.max(1, box.right - box.left), height / Math.max(1, box.bottom - box.top));
    this.zoom.scaleExtent([Math.min(0.5, k * 0.7), CLOSEST]);
    const [x, y] = [aside + width / 2, ABOVE + height / 2];
    this.#go(zoomIdentity.translate(x, y).scale(k).translate(-(box.left + box.right) / 2, -(box.top + box.bottom) / 2), smooth);
  }

  /** Flies to a place of the map, nearer where it is far. @param {number} x @param {number} y */
  flyTo(x, y) {
    this.touched = true;
    const k = Math.max(FLIGHT_SCALE, this.transform.k);
    this.#go(zoomIdentity.translate(this.size.width / 2, this.size.height / 2).scale(k).translate(-x, -y), true);
  }

  /** Moves just so far that a place of the map is well in sight. @param {number} x @param {number} y @param {boolean} smooth */
  reveal(x, y, smooth) {
    const [left, top] = this.transform.apply([x, y]);
    const sideways = inside(left, this.size.width) - left;
    const down = inside(top, this.size.height) - top;
    if (sideways === 0 && down === 0) return;
    this.touched = true;
    const { k, x: x0, y: y0 } = this.transform;
    this.#go(zoomIdentity.translate(x0 + sideways, y0 + down).scale(k), smooth);
  }

  /** @param {number} factor @param {[number, number]} [at] a place on the screen that stays; default: the middle */
  scaleBy(factor, at) {
    this.touched = true;
    if (calm()) this.selection.call(this.zoom.scaleBy, factor, at);
    else transition(this.selection, 200).call(this.zoom.scaleBy, factor, at);
  }

  /** @param {number} x @param {number} y by how many pixels */
  panBy(x, y) {
    this.touched = true;
    this.selection.call(this.zoom.translateBy, x / this.transform.k, y / this.transform.k);
  }

  /** @param {import('../../vendor/d3-zoom.js').ZoomTransform} transform @param {boolean} smooth */
  #go(transform, smooth) {
    if (smooth && !calm()) transition(this.selection, FLIGHT_MS).call(this.zoom.transform, transform);
    else this.selection.call(this.zoom.transform, transform);
  }

  /** Ends what moves, and listens no more. */
  close() {
    /** @type {any} */ (this.selection).interrupt().on('.zoom', null);
  }
}

/** @param {any} selection d3-zoom brings transitions along, which its types do not tell @param {number} duration */
function transition(selection, duration) {
  return selection.transition().duration(duration);
}

/** @param {number} at @param {number} length */
function inside(at, length) {
  return Math.min(Math.max(at, Math.min(EDGE, length / 2)), Math.max(length - EDGE, length / 2));
}
