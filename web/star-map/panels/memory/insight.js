/** The pending insight: one hint for a session, in the prompts of its next turn. */
import { html } from '../../html.js';
import { canWrite, open } from '../../state.js';
import { dateTime, t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { useDraft } from '../draft.js';
import { Form, Text } from '../fields.js';
import { SessionLink, useLabels } from '../session-link.js';

const PUT = 'mutation Put($id: ID!, $content: String!) { putInsight(sessionId: $id, content: $content) { id } }';
const CLEAR = 'mutation Clear($id: ID!) { clearInsight(sessionId: $id) { id } }';

/** @param {import('../memory.js').Part} part */
export function Insight({ session, change }) {
  const { insight } = session;
  return html`
    <section class="part" aria-label=${t('memory.insight')}>
      <h3>${t('memory.insight')}</h3>
      <p class="quiet">${t('memory.insight-about')}</p>
      ${insight
        ? html`<blockquote class="prose">${insight.content}</blockquote><${Source} insight=${insight} />`
        : html`<p class="quiet">${t('memory.no-insight')}</p>`}
      ${canWrite.value && html`
        ${insight && html`<div class="row"><${ActionButton} label=${t('memory.clear')} act=${() => change(CLEAR)} /></div>`}
        <${Editor} session=${session} change=${change} />`}
    </section>`;
}

/** @param {{insight: any}} props */
function Source({ insight: { sourceSessionId, putAt } }) {
  const labelOf = useLabels([sourceSessionId]);
  return html`
    <p class="quiet">
      ${sourceSessionId
        ? html`${t('memory.from')} <${SessionLink} id=${sourceSessionId} label=${labelOf(sourceSessionId)} />`
        : t('memory.from-application')}
      ${' · '}<time datetime=${putAt}>${dateTime(putAt)}</time>
    </p>`;
}

/** @param {import('../memory.js').Part} part */
function Editor({ session, change }) {
  const draft = useDraft(`insight:${session.id}`, { content: '' }, () => open(session.id, 'memory'));
  const label = t(session.insight ? 'memory.replace' : 'memory.put');
  return html`
    <${Form} draft=${draft} label=${label} save=${() => change(PUT, draft.changes)}>
      <${Text} label=${t('memory.insight-text')} rows=${3} value=${draft.value('content')}
        set=${draft.setter('content')} />
    <//>`;
}
