/** Markdown on the page. */
import { html, useLayoutEffect, useRef } from '../html.js';
import { sayRefusal } from '../shell/toasts.js';
import { language } from '../texts.js';
import { copy } from './copy.js';
import { colour, rendered } from './markdown.js';

/** @param {{text: string}} props */
export function Markdown({ text }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const drawn = useRef(/** @type {Node[]} */ ([]));
  const shown = language.value;
  useLayoutEffect(() => {
    const fresh = [...rendered(text).childNodes];
    const before = drawn.current;
    // As they were before they were coloured.
    drawn.current = fresh.map((node) => node.cloneNode(true));
    const same = drawn.current.findIndex((node, at) => !before[at]?.isEqualNode(node));
    replaceFrom(/** @type {HTMLElement} */ (place.current), same < 0 ? fresh.length : same, fresh);
  }, [text, shown]);
  return html`<div class="markdown" dir="auto" ref=${place} onClick=${copyCode}></div>`;
}

/**
 * Changes only what is other than before, so that a reply that grows keeps the focus and what is selected in it.
 * @param {HTMLElement} element
 * @param {number} start the first node that is other
 * @param {ChildNode[]} nodes all that it is to hold
 */
function replaceFrom(element, start, nodes) {
  while (element.childNodes.length > start) element.lastChild?.remove();
  for (const node of nodes.slice(start)) {
    element.append(node);
    if (node instanceof Element) colour(node).catch(sayRefusal);
  }
}

/** @param {MouseEvent} event */
function copyCode(event) {
  const button = /** @type {Element} */ (event.target).closest('.copy-code');
  if (button) copy(button.closest('.code')?.querySelector('pre')?.textContent ?? '');
}
