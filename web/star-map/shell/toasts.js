/** Short words about what happened, read out by screen readers, gone by themselves or by a click. */
import { Refusal } from '../graphql.js';
import { html, signal } from '../html.js';
import { t } from '../texts.js';

const STAYS_MS = 8_000;
const EXPLAINED = new Set([
  'CONFLICT', 'CONTEXT_TOO_LONG', 'FORBIDDEN', 'FORK_REFUSED', 'INTERNAL', 'INVALID_INPUT', 'LIMIT_EXCEEDED', 'LLM_RATE_LIMITED',
  'LLM_REFUSED', 'LLM_UNAVAILABLE', 'NOT_FOUND', 'SESSION_ARCHIVED', 'SESSION_BUSY', 'STORE_UNAVAILABLE', 'TURN_ENDED',
  'UNAUTHENTICATED',
]);
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

/** @param {Refusal} refusal @returns {string} for a person; the server's own words are English */
export function reason({ code, message }) {
  if (code === 'OFFLINE') return t('toasts.offline');
  return EXPLAINED.has(code) ? t(`refusal.${code}`, { message }) : message;
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
