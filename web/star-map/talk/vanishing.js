/** A box that may go while one uses it, for instance by a press of its own button: the focus is handed on first. */
import { html, useLayoutEffect, useRef } from '../html.js';

/** @param {{class: string, role?: string, label?: string, children: import('../html.js').Children}} props */
export function Vanishing({ class: name, role, label, children }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => () => handOn(box.current), []);
  return html`<div class=${name} role=${role} aria-label=${label} ref=${box}>${children}</div>`;
}

/** Hands the focus on where it is inside of what goes. @param {HTMLElement | null} box */
export function handOn(box) {
  if (!box?.contains(document.activeElement)) return;
  const talk = box.closest('.talk');
  const field = talk?.querySelector('.composer textarea') ?? null;
  // A phone's keyboard is not to jump up.
  const isField = field !== null && !box.contains(field) && matchMedia('(hover: hover)').matches;
  const next = /** @type {HTMLElement | null | undefined} */ (isField ? field : talk?.querySelector('.transcript'));
  next?.focus();
}
