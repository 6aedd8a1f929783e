/** Keys that hold everywhere in the page. */
import { close, openId, sidePage } from '../state.js';
import { isAsking } from './dialog.js';
import { focusMap, focusSide } from './focus.js';
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
  // What an input method takes, Safari tells by 229 alone.
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229 || isAsking()) return;
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
  const action = { '?': showHelp, n: newSession }[event.key.toLowerCase()];
  if (!action) return;
  event.preventDefault();
  action();
}

/** @param {KeyboardEvent} event */
function isTyping({ target }) {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable], [role="tree"], [role="tree"] *');
}
