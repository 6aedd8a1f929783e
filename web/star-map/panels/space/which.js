/** Two wrote the same record: which of them stays? */
import { html } from '../../html.js';
import { ask } from '../../shell/dialog.js';
import { t } from '../../texts.js';

/**
 * @param {string} key
 * @param {string} mine as JSON
 * @param {{value: any} | null} theirs null where it was deleted
 * @returns {Promise<'mine' | 'theirs' | undefined>} undefined where the question was left
 */
export function askWhich(key, mine, theirs) {
  return ask(t('space.conflict'), (close) => html`
    <p>${t('space.conflict-about', { key })}</p>
    <h3>${t('space.theirs')}</h3>
    <pre class="value">${theirs === null ? t('space.gone') : JSON.stringify(theirs.value, null, 2)}</pre>
    <h3>${t('space.mine')}</h3>
    <pre class="value">${mine}</pre>
    <div class="row end">
      <button type="button" onClick=${() => close('theirs')}>${t('space.keep-theirs')}</button>
      <button type="button" class="danger" onClick=${() => close('mine')}>${t('space.keep-mine')}</button>
    </div>`);
}
