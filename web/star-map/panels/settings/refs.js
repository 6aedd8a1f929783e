/** Links to and from sessions of other branches. */
import { html, useId, useSignal } from '../../html.js';
import { canWrite } from '../../state.js';
import { t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { Read, useReading } from '../read.js';
import { SessionLink } from '../session-link.js';

const ADD = 'mutation Add($id: ID!, $to: ID!) { addRef(fromId: $id, toId: $to) { id } }';
const REMOVE = 'mutation Remove($id: ID!, $to: ID!) { removeRef(fromId: $id, toId: $to) { id } }';
const FIND = `query Find($words: String!) {
  search(query: $words, in: [LABEL], first: 8) { session { id label } }
}`;

/** @param {import('../settings.js').Part} part */
export function Refs({ session, change }) {
  const { refs, referencedBy } = session.node ?? { refs: [], referencedBy: [] };
  return html`
    <section class="part" aria-label=${t('settings.refs')}>
      <h3>${t('settings.refs')}</h3>
      ${refs.length === 0 && html`<p class="quiet">${t('settings.no-refs')}</p>`}
      <ul class="plain-list">
        ${refs.map((/** @type {any} */ { id, label }) => html`
          <li key=${id} class="row">
            <span class="grow"><${SessionLink} id=${id} label=${label} /></span>
            ${canWrite.value && html`
              <${ActionButton} label=${t('settings.remove')} name=${t('settings.remove-ref', { label })}
                act=${() => change(REMOVE, { to: id })} />`}
          </li>`)}
      </ul>
      ${canWrite.value && html`<${Adder} session=${session} refs=${refs} change=${change} />`}
      ${referencedBy.length > 0 && html`
        <h4>${t('settings.referenced-by')}</h4>
        <ul class="plain-list">
          ${referencedBy.map((/** @type {any} */ { id, label }) => html`
            <li key=${id}><${SessionLink} id=${id} label=${label} /></li>`)}
        </ul>`}
    </section>`;
}

/** @param {import('../settings.js').Part & {refs: any[]}} props */
function Adder({ session, refs, change }) {
  const words = useSignal('');
  const field = useId();
  const reading = useReading(FIND, words.value.trim() ? { words: `${words.value.trim()}*` } : null);
  const taken = new Set([session.id, ...refs.map(({ id }) => id)]);
  const add = async (/** @type {string} */ to) => {
    await change(ADD, { to });
    words.value = '';
    document.getElementById(field)?.focus();
  };
  return html`
    <div class="field">
      <label>
        <span>${t('settings.add-ref')}</span>
        <input id=${field} type="search" value=${words.value} placeholder=${t('settings.find')}
          onInput=${(/** @type {any} */ event) => { words.value = event.currentTarget.value; }} />
      </label>
    </div>
    ${words.value.trim() && html`
      <${Read} reading=${reading}>${(/** @type {any} */ { search }) => {
        const found = search.map((/** @type {any} */ hit) => hit.session).filter((/** @type {any} */ one) => one && !taken.has(one.id));
        if (found.length === 0) return html`<p class="quiet" role="status">${t('settings.none-found')}</p>`;
        return html`
          <ul class="plain-list">
            ${found.map((/** @type {any} */ { id, label }) => html`
              <li key=${id} class="row">
                <${ActionButton} label=${t('settings.add', { label })} act=${() => add(id)} />
              </li>`)}
          </ul>`;
      }}<//>`}`;
}
