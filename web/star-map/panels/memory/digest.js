/** L2: what others read of a session; by hand, or made of the transcript. */
import { html, useRef, useSignal } from '../../html.js';
import { say } from '../../shell/toasts.js';
import { canWrite, open } from '../../state.js';
import { t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { isDrafted, useDraft } from '../draft.js';
import { Form, Text } from '../fields.js';

const PUT = 'mutation Put($id: ID!, $content: String!) { putMemory(sessionId: $id, content: $content) { id } }';
const CONSOLIDATE = 'mutation Consolidate($id: ID!) { consolidate(sessionId: $id) { memory } }';

/** @param {import('../memory.js').Part} part */
export function Digest({ session, change }) {
  const isEdited = useSignal(isDrafted(placeOf(session)));
  const edit = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const consolidate = async () => {
    const { consolidate: fresh } = await change(CONSOLIDATE);
    say(t(fresh.memory === session.memory ? 'memory.same-digest' : 'memory.new-digest'));
  };
  const close = () => {
    isEdited.value = false;
    edit.current?.focus();
  };
  return html`
    <section class="part" aria-label=${t('memory.digest')}>
      <h3>${t('memory.digest')}</h3>
      <p class="quiet">${t('memory.digest-about')}</p>
      ${isEdited.value
        ? html`<${Editor} session=${session} change=${change} done=${close} reopen=${() => { isEdited.value = true; }} />`
        : session.memory
          ? html`<p class="prose">${session.memory}</p>`
          : html`<p class="quiet">${t('memory.none-yet')}</p>`}
      ${canWrite.value && html`
        <div class="row">
          <button type="button" ref=${edit} aria-pressed=${isEdited.value}
            onClick=${() => { isEdited.value = !isEdited.value; }}>${t('panels.edit')}</button>
          <${ActionButton} label=${t('memory.consolidate')} busy=${t('memory.consolidating')} act=${consolidate} />
        </div>`}
    </section>`;
}

/** @param {import('../memory.js').Part & {done: () => void, reopen: () => void}} props */
function Editor({ session, change, done, reopen }) {
  const back = () => {
    reopen();
    open(session.id, 'memory');
  };
  const draft = useDraft(placeOf(session), { content: session.memory ?? '' }, back);
  return html`
    <${Form} draft=${draft} save=${() => change(PUT, draft.changes)} done=${done}>
      <${Text} label=${t('memory.digest')} rows=${8} value=${draft.value('content')} set=${draft.setter('content')} />
    <//>`;
}

/** @param {any} session */
function placeOf(session) {
  return `digest:${session.id}`;
}
