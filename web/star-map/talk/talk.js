/** The conversation of one session. */
import { html, useEffect, useMemo } from '../html.js';
import { canWrite } from '../state.js';
import { t } from '../texts.js';
import { Composer } from './composer.js';
import { Conversation } from './conversation.js';
import { enter, leave } from './presence.js';
import { TranscriptView } from './transcript-view.js';

/** @param {{id: string}} props */
export function Talk({ id }) {
  return html`<${Open} key=${id} id=${id} />`;
}

/** @param {{id: string}} props */
function Open({ id }) {
  const talk = useMemo(() => new Conversation(id), [id]);
  useEffect(() => talk.start(), [talk]);
  const status = talk.session.value?.status;
  const mayWrite = canWrite.value;
  useEffect(() => {
    if (!mayWrite || !status) return;
    if (status === 'ACTIVE') enter(id);
    else leave();
  }, [id, status, mayWrite]);
  if (talk.session.value === null) return html`<p class="talk notice">${t('talk.gone')}</p>`;
  return html`
    <section class="talk">
      <div class="talk-main"><${TranscriptView} talk=${talk} /></div>
      <${Composer} talk=${talk} />
    </section>`;
}
