/** The edge between the map and what is open: drawn with the pointer, moved by arrow keys. */
import { effect, html, signal } from '../html.js';
import { lasting } from '../storage.js';
import { t } from '../texts.js';

const MIN = 380;
const STEP = 24;

/** How wide the side is; null: as the style has it. */
const width = signal(Number(lasting.get('side-width')) || null);
effect(() => {
  const root = document.documentElement.style;
  if (width.value === null) root.removeProperty('--side-width');
  else root.setProperty('--side-width', `${width.value}px`);
});

const widest = () => Math.max(MIN, Math.round(innerWidth * 0.7));

/** @param {number} value */
function resize(value) {
  width.value = Math.round(Math.min(Math.max(value, MIN), widest()));
  lasting.set('side-width', String(width.value));
}

export function Handle() {
  const now = width.value ?? Math.round(Math.max(MIN, innerWidth * 0.46));
  return html`
    <div class="handle" role="separator" aria-orientation="vertical" tabindex="0" aria-label=${t('side.width')}
      aria-valuemin=${MIN} aria-valuemax=${widest()} aria-valuenow=${Math.min(now, widest())}
      onPointerDown=${grab} onPointerMove=${drag} onKeyDown=${(/** @type {KeyboardEvent} */ event) => step(event, now)}></div>`;
}

/** @param {PointerEvent} event */
function grab(event) {
  /** @type {HTMLElement} */ (event.currentTarget).setPointerCapture(event.pointerId);
}

/** @param {PointerEvent} event */
function drag(event) {
  const handle = /** @type {HTMLElement} */ (event.currentTarget);
  if (handle.hasPointerCapture(event.pointerId)) resize(innerWidth - event.clientX);
}

/** @param {KeyboardEvent} event @param {number} now */
function step(event, now) {
  const to = /** @type {Record<string, number>} */ ({
    ArrowLeft: now + STEP,
    ArrowRight: now - STEP,
    Home: MIN,
    End: widest(),
  })[event.key];
  if (to === undefined) return;
  event.preventDefault();
  resize(to);
}
