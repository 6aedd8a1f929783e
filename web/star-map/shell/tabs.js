/** Tabs: one of some sides shows. Arrows go from tab to tab, Tab goes into what shows. */
import { html, useId, useRef } from '../html.js';

const STEPS = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1 });

/**
 * @param {{label: string, names: {id: string, text: string}[], chosen: string, choose: (id: string) => void, children: import('../html.js').Children}} props
 */
export function Tabs({ label, names, chosen, choose, children }) {
  const prefix = useId();
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const place = placeFor(event.key, names.findIndex(({ id }) => id === chosen), names.length);
    if (place === null) return;
    event.preventDefault();
    choose(names[place].id);
    /** @type {HTMLElement} */ (list.current?.children[place]).focus();
  };
  return html`
    <div class="tabs" role="tablist" aria-label=${label} ref=${list} onKeyDown=${onKeyDown}>
      ${names.map(({ id, text }) => html`
        <button type="button" role="tab" key=${id} id=${`${prefix}-${id}`} aria-controls=${`${prefix}-panel`}
          aria-selected=${id === chosen} tabindex=${id === chosen ? 0 : -1} onClick=${() => choose(id)}>${text}</button>`)}
    </div>
    <div class="tab-panel" role="tabpanel" id=${`${prefix}-panel`} aria-labelledby=${`${prefix}-${chosen}`}>${children}</div>`;
}

/** @param {string} key @param {number} now @param {number} count @returns {number | null} */
function placeFor(key, now, count) {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  return key in STEPS ? (now + STEPS[key] + count) % count : null;
}
