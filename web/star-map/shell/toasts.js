/** Short words about what happened, read out by screen readers, gone by themselves or by a click. */
import { Refusal } from '../graphql.js';
import { html, signal } from '../html.js';
import { t } from '../texts.js';

const STAYS_MS = 8_000;
const shown = signal(/** @type {{id: number, text: string, kind: 'note' | 'error'}[]} */ ([]));
let count = 0;

/** @param {string} text @param {'note' | 'error'} [kind] */
export function say(text, kind = 'note') {
  const id = ++count;
  shown.value = [...shown.value.slice(-3), { id, text, kind }];
  setTimeout(() => drop(id), STAYS_MS);
}

/**
 * Says why something was not done; what is no Refusal is a fault of ours and goes on.
 * @param {unknown} error
 */
export function sayRefusal(error) {
  if (!(error instanceof Refusal)) throw error;
  if (error.code !== 'UNAUTHENTICATED') say(reason(error), 'error');
}

/** @param {Refusal} refusal @returns {string} for a person */
export function reason(refusal) {
  return refusal.code === 'OFFLINE' ? t('toasts.offline') : refusal.message;
}

/** @param {number} id */
function drop(id) {
  shown.value = shown.value.filter((toast) => toast.id !== id);
}

/** Where they appear; once in the page. */
export function Toasts() {
  return html`
    <div class="toasts" role="status" aria-live="polite">
      ${shown.value.map(({ id, text, kind }) => html`
        <div key=${id} class=${`toast ${kind}`}>
          <span class="grow">${text}</span>
          <button type="button" class="plain" aria-label=${t('toasts.dismiss')} onClick=${() => drop(id)}>✕</button>
        </div>`)}
    </div>`;
}
