/** Keys that hold everywhere in the page. */
import { close, openId, sidePage } from '../state.js';
import { isAsking } from './dialog.js';
import { showHelp } from './help.js';
import { newSession } from './new-session.js';

/** Starts listening. @returns {() => void} stops it */
export function listenToKeys() {
  document.addEventListener('keydown', onKeyDown);
  return () => document.removeEventListener('keydown', onKeyDown);
}

/** @param {KeyboardEvent} event */
function onKeyDown(event) {
  // What lies above, a dialog, a menu, a search, takes its keys first.
  if (event.defaultPrevented || event.isComposing || isAsking()) return;
  if (event.key === 'Escape') closeTopmost(event);
  else if (event.key === 'F6') otherSide(event);
  else if (!isTyping(event)) act(event);
}

/** @param {KeyboardEvent} event */
function closeTopmost(event) {
  if (document.querySelector(':popover-open') || (openId.peek() === null && sidePage.peek() === null)) return;
  event.preventDefault();
  close();
}

/** @param {KeyboardEvent} event */
function otherSide(event) {
  event.preventDefault();
  if (document.querySelector('.side')?.contains(document.activeElement)) focusMap();
  else focusSide();
}

/** @param {KeyboardEvent} event */
function act(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const action = { '?': showHelp, n: newSession }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/** @param {KeyboardEvent} event */
function isTyping({ target }) {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable], [role="tree"], [role="tree"] *');
}

/** Brings the focus to the map: its list where that shows, else its canvas. */
export function focusMap() {
  const places = document.querySelectorAll('main [role="tree"][tabindex="0"], main [role="tree"] [tabindex="0"], main canvas, main');
  const seen = [...places].filter((place) => /** @type {HTMLElement} */ (place).checkVisibility());
  const inner = seen.find((place) => place.localName !== 'main') ?? seen[0];
  /** @type {HTMLElement | undefined} */ (inner)?.focus();
}

/** Brings the focus to what is open: its composer where there is one, else its head. */
export function focusSide() {
  const place = document.querySelector('.side textarea:not([disabled])') ?? document.querySelector('.side h2');
  /** @type {HTMLElement | null} */ (place)?.focus();
}
