/**
 * Modal dialogs. `ask` opens one and resolves with what it was closed with; focus goes back to
 * where it was. The browser closes the topmost by Escape, and only that.
 */
import { html, signal, useLayoutEffect, useRef } from '../html.js';
import { t } from '../texts.js';
import { focusMap } from './focus.js';

/** @typedef {{id: number, title: string, body: (close: (value?: any) => void) => import('../html.js').Children, done: (value: any) => void, from: Element | null}} Opened */

const opened = signal(/** @type {Opened[]} */ ([]));
let count = 0;

/**
 * @param {string} title
 * @param {(close: (value?: any) => void) => import('../html.js').Children} body what it holds;
 *   `close(value)` ends it
 * @returns {Promise<any>} the value it was closed with, undefined where it was left
 */
export function ask(title, body) {
  return new Promise((done) => {
    opened.value = [...opened.value, { id: ++count, title, body, done, from: document.activeElement }];
  });
}

/**
 * Asks for a yes.
 * @param {{title: string, text: string, action: string, danger?: boolean}} words
 * @returns {Promise<boolean>}
 */
export async function confirm({ title, text, action, danger = false }) {
  const answer = await ask(title, (close) => html`
    <p>${text}</p>
    <div class="row end">
      <button type="button" onClick=${() => close(false)}>${t('dialog.cancel')}</button>
      <button type="button" class=${danger ? 'danger' : 'primary'} onClick=${() => close(true)}>${action}</button>
    </div>`);
  return answer === true;
}

/** Whether a dialog is open, so that keys are its own. */
export function isAsking() {
  return opened.value.length > 0;
}

/** Where dialogs appear; once in the page. */
export function Dialogs() {
  return opened.value.map((dialog) => html`<${Dialog} key=${dialog.id} ...${dialog} />`);
}

/** @param {Opened} dialog */
function Dialog({ title, body, done, from }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const answer = useRef(/** @type {any} */ (undefined));
  useLayoutEffect(() => element.current?.showModal(), []);
  const close = (/** @type {any} */ value) => {
    answer.current = value;
    element.current?.close();
  };
  const closed = () => {
    opened.value = opened.value.filter((dialog) => dialog.done !== done);
    if (from instanceof HTMLElement) from.focus();
    if (from === document.body || document.activeElement !== from) focusMap();
    done(answer.current);
  };
  return html`
    <dialog ref=${element} aria-label=${title} onClose=${closed}>
      <header class="row">
        <h2 class="grow">${title}</h2>
        <button type="button" class="plain" aria-label=${t('dialog.close')} onClick=${() => close(undefined)}>✕</button>
      </header>
      <div class="stack">${body(close)}</div>
    </dialog>`;
}
