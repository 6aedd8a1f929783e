/** Markdown on the page. */
import { html, useLayoutEffect, useRef } from '../html.js';
import { sayRefusal } from '../shell/toasts.js';
import { language } from '../texts.js';
import { copy } from './copy.js';
import { colour, rendered } from './markdown.js';

/** @param {{text: string}} props */
export function Markdown({ text }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const shown = language.value;
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (place.current);
    element.replaceChildren(rendered(text));
    colour(element).catch(sayRefusal);
  }, [text, shown]);
  return html`<div class="markdown" dir="auto" ref=${place} onClick=${copyCode}></div>`;
}

/** @param {MouseEvent} event */
function copyCode(event) {
  const button = /** @type {Element} */ (event.target).closest('.copy-code');
  if (button) copy(button.closest('.code')?.querySelector('pre')?.textContent ?? '');
}
