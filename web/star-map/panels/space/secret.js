/** A new key's secret: shown this once. */
import { html, useRef, useSignal } from '../../html.js';
import { ask } from '../../shell/dialog.js';
import { t } from '../../texts.js';

/**
 * The first key must not be lost by Escape, as the server would be with it: then it is shown again.
 * @param {string} secret
 * @param {boolean} isFirst whether this page itself needs a key from now on
 * @returns {Promise<boolean>} whether this tab shall use it
 */
export async function showSecret(secret, isFirst) {
  const answer = await ask(t('space.secret'), (close) => html`
    <${Secret} secret=${secret} isFirst=${isFirst} close=${close} />`);
  return answer === undefined && isFirst ? showSecret(secret, isFirst) : answer === true;
}

/** @param {{secret: string, isFirst: boolean, close: (value: boolean) => void}} props */
function Secret({ secret, isFirst, close }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const said = useSignal('');
  const copy = async () => {
    field.current?.select();
    said.value = t((await isCopied(secret)) ? 'space.copied' : 'space.copy-by-hand');
  };
  return html`
    <p>${t('space.secret-about')}</p>
    <div class="row">
      <input ref=${field} class="secret" readonly aria-label=${t('space.secret')} value=${secret} />
      <button type="button" onClick=${copy}>${t('space.copy')}</button>
      <span role="status" class="quiet">${said.value}</span>
    </div>
    ${isFirst && html`<p class="notice">${t('space.first-key')}</p>`}
    <div class="row end">
      ${isFirst && html`<button type="button" class="primary" onClick=${() => close(true)}>${t('space.use-key')}</button>`}
      <button type="button" onClick=${() => close(false)}>${t('space.secret-kept')}</button>
    </div>`;
}

/**
 * Only pages on https or the own machine have a clipboard, and not all may write to it.
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function isCopied(text) {
  if (!navigator.clipboard) return false;
  return navigator.clipboard.writeText(text).then(() => true, () => false);
}
