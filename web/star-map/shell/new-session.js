/** The dialog that makes a session. */
import { query, Refusal } from '../graphql.js';
import { html, useRef, useState } from '../html.js';
import { canWrite, flyTo, open } from '../state.js';
import { newId } from '../talk/ids.js';
import { t } from '../texts.js';
import { ask } from './dialog.js';
import { opened } from './opened.js';
import { reason } from './toasts.js';

const CREATE = 'mutation Create($input: CreateSessionInput!) { createSession(input: $input) { id } }';
const LABEL_LENGTH = 200;

/** Asks for a new session, makes it, opens it and flies to it. */
export async function newSession() {
  if (!canWrite.peek()) return;
  const id = await ask(t('new.title'), (close) => html`<${Form} done=${close} />`);
  if (!id) return;
  open(id);
  flyTo(id);
  // The composer takes the focus once it is drawn, which it does only where nothing else has it.
  /** @type {HTMLElement | null} */ (document.activeElement)?.blur();
}

/** @param {{done: (id?: string) => void}} props */
function Form({ done }) {
  const parent = opened.value;
  const [below, setBelow] = useState(false);
  const [role, setRole] = useState('STANDARD');
  // What was sent may have arrived without an answer: the same once more is to make no second one.
  const idempotencyKey = useRef(newId());
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState('');
  const isRoot = !(parent && below);
  const onSubmit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError('');
    try {
      const input = inputOf(/** @type {HTMLFormElement} */ (event.target), isRoot ? null : parent.id);
      const { createSession } = await query(CREATE, { input: { ...input, idempotencyKey: idempotencyKey.current } });
      done(createSession.id);
    } catch (failure) {
      if (!(failure instanceof Refusal)) throw failure;
      setError(reason(failure));
      setBusy(false);
    }
  };
  return html`
    <form class="stack" onSubmit=${onSubmit} onInput=${() => { idempotencyKey.current = newId(); }}>
      ${parent && html`<${Place} parent=${parent} below=${below} choose=${setBelow} />`}
      <label class="field">${t('new.label')}
        <input name="label" required maxlength=${LABEL_LENGTH} autocomplete="off" autofocus />
      </label>
      ${isRoot && html`
        <div class="fields">
          <label class="field">${t('new.role')}
            <select name="role" value=${role} onChange=${(/** @type {any} */ event) => setRole(event.target.value)}>
              <option value="STANDARD">${t('new.role-standard')}</option>
              <option value="MAIN">${t('new.role-main')}</option>
            </select>
            <small class="quiet">${t(role === 'MAIN' ? 'new.role-main-means' : 'new.role-standard-means')}</small>
          </label>
          <label class="field">${t('new.strategy')}
            <select name="strategy">
              <option value="">${t('new.strategy-default')}</option>
              <option value="TREE">${t('new.strategy-tree')}</option>
              <option value="FLAT">${t('new.strategy-flat')}</option>
              <option value="HIERARCHICAL">${t('new.strategy-hierarchical')}</option>
            </select>
          </label>
        </div>`}
      <label class="field">${t('new.prompt')}
        <textarea name="systemPrompt" rows="3" placeholder=${t('new.prompt-default')}></textarea>
      </label>
      <label class="field">${t('new.tags')}
        <input name="tags" autocomplete="off" placeholder=${t('new.tags-example')} />
      </label>
      ${error && html`<p class="error" role="alert">${error}</p>`}
      <div class="row end">
        <button type="button" onClick=${() => done()}>${t('dialog.cancel')}</button>
        <button class="primary" aria-disabled=${busy}>${t('new.create')}</button>
      </div>
    </form>`;
}

/** @param {{parent: {label: string}, below: boolean, choose: (below: boolean) => void}} props */
function Place({ parent, below, choose }) {
  return html`
    <fieldset class="choices">
      <legend>${t('new.place')}</legend>
      <label><input type="radio" name="place" checked=${!below} onChange=${() => choose(false)} /> ${t('new.place-root')}</label>
      <label><input type="radio" name="place" checked=${below} onChange=${() => choose(true)} /> ${t('new.place-below', { label: parent.label })}</label>
    </fieldset>`;
}

/**
 * @param {HTMLFormElement} form
 * @param {string | null} parentId
 * @returns {Record<string, unknown>} a CreateSessionInput; what was left empty is not in it
 */
function inputOf(form, parentId) {
  const text = (/** @type {string} */ name) => String(new FormData(form).get(name) ?? '').trim();
  const tags = text('tags').split(/[,，]/).map((tag) => tag.trim()).filter(Boolean);
  return {
    label: text('label'),
    ...(parentId !== null && { parentId }),
    ...(text('role') && { role: text('role') }),
    ...(text('strategy') && { strategy: text('strategy') }),
    ...(text('systemPrompt') && { systemPrompt: text('systemPrompt') }),
    ...(tags.length > 0 && { tags }),
  };
}
