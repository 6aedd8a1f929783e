/** A question before much is deleted: how many go is to be typed. */
import { html, useSignal } from '../html.js';
import { ask } from '../shell/dialog.js';
import { t } from '../texts.js';

/**
 * @param {string} title also what its button says
 * @param {string} text names how many go
 * @param {number} count
 * @returns {Promise<boolean>}
 */
export async function askCount(title, text, count) {
  const answer = await ask(title, (close) => html`
    <${Question} title=${title} text=${text} count=${count} close=${close} />`);
  return answer === true;
}

/** @param {{title: string, text: string, count: number, close: (value: boolean) => void}} props */
function Question({ title, text, count, close }) {
  const typed = useSignal('');
  const isRight = typed.value.trim() === String(count);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isRight) close(true);
  };
  return html`
    <form class="stack" onSubmit=${submit}>
      <p>${text}</p>
      <label class="stack">
        <span>${t('count.type', { count: String(count) })}</span>
        <input inputmode="numeric" autocomplete="off" autofocus value=${typed.value}
          onInput=${(/** @type {any} */ event) => { typed.value = event.currentTarget.value; }} />
      </label>
      <div class="row end">
        <button type="button" onClick=${() => close(false)}>${t('dialog.cancel')}</button>
        <button class="danger" aria-disabled=${!isRight}>${title}</button>
      </div>
    </form>`;
}
