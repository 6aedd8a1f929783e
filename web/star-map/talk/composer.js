/** Where a message is written and sent, and a turn stopped. */
import { query } from '../graphql.js';
import { html, useEffect, useLayoutEffect, useRef } from '../html.js';
import { sayRefusal } from '../shell/toasts.js';
import { canWrite, offlineModel, viewer } from '../state.js';
import { t } from '../texts.js';
import { UNARCHIVE } from './documents.js';
import { askFork } from './fork-dialog.js';
import { Vanishing, handOn } from './vanishing.js';

/** @typedef {import('./conversation.js').Conversation} Conversation */

/** @param {{talk: Conversation}} props */
export function Composer({ talk }) {
  if (!viewer.value) return null;
  if (!canWrite.value) return html`<p class="composer quiet">${t('talk.readOnly')}</p>`;
  const session = talk.session.value;
  if (!session) return null;
  if (session.status === 'ARCHIVED') return html`<${Archived} talk=${talk} />`;
  return html`<${Field} talk=${talk} session=${session} />`;
}

/** @param {{talk: Conversation}} props */
function Archived({ talk }) {
  const unarchive = () => query(UNARCHIVE, { id: talk.id }).then(() => talk.refresh()).catch(sayRefusal);
  return html`
    <${Vanishing} class="composer row">
      <p class="grow">${t('talk.archived')}</p>
      <button type="button" onClick=${unarchive}>${t('talk.unarchive')}</button>
    <//>`;
}

/** @param {{talk: Conversation, session: import('./conversation.js').SessionFacts}} props */
function Field({ talk, session }) {
  const { sending } = talk;
  const turn = talk.turn.value;
  const form = useRef(/** @type {HTMLElement | null} */ (null));
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  // What had the focus may have gone with the session before; a phone's keyboard is not to jump up.
  useEffect(() => {
    if (document.activeElement === document.body && matchMedia('(hover: hover)').matches) field.current?.focus();
  }, []);
  useLayoutEffect(() => () => handOn(form.current), []);
  const stop = () => turn?.cancel().catch(sayRefusal);
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    talk.toEnd();
    sending.send();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    // Enter in an input method's window picks a word; Safari tells of it by 229 alone.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === 'Enter' && !event.shiftKey) send(event);
    if (event.key === 'Escape' && turn) {
      event.preventDefault();
      stop();
    }
  };
  return html`
    <form class="composer stack" ref=${form} onSubmit=${send}>
      ${sending.problem.value ? html`<p class="error" role="alert">${sending.problem.value}</p>` : null}
      <textarea rows="1" ref=${field} aria-label=${t('talk.message')} placeholder=${t('talk.placeholder')} dir="auto"
        value=${sending.draft.value} onKeyDown=${pressed}
        onInput=${(/** @type {any} */ event) => sending.write(event.currentTarget.value)}></textarea>
      <div class="row">
        ${offlineModel.value ? html`<span class="offline" title=${t('talk.offlineLong')}>${t('talk.offline')}</span>` : null}
        <span class="grow quiet keys">${t(turn ? 'talk.keysRunning' : 'talk.keys')}</span>
        <button type="button" class="plain" onClick=${() => askFork(session, null)}>${t('talk.forkAll')}</button>
        ${turn ? html`<${Vanishing} class="stop"><button type="button" class="danger" onClick=${stop}>${t('talk.stop')}</button><//>` : null}
        <button type="submit" class="primary" aria-disabled=${!sending.draft.value.trim() || sending.outgoing.value !== null}>${t('talk.send')}</button>
      </div>
    </form>`;
}
