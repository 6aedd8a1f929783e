/** What is on its way at the end of a transcript: a message that goes out, a reply that comes in, or why none came. */
import { html } from '../html.js';
import { sayRefusal } from '../shell/toasts.js';
import { canWrite } from '../state.js';
import { t } from '../texts.js';
import { Markdown } from './markdown-view.js';
import { Vanishing } from './vanishing.js';

/** @typedef {import('./conversation.js').Conversation} Conversation */

/** @param {{talk: Conversation}} props */
export function OutgoingMessage({ talk: { sending } }) {
  const outgoing = sending.outgoing.value;
  if (!outgoing) return null;
  const { content, state } = outgoing;
  const deliver = (/** @type {'REJECT' | 'QUEUE' | 'INTERRUPT'} */ how) => () => sending.deliver(how);
  return html`
    <article class="message user outgoing" aria-label=${t('talk.role.USER')}>
      <header class="row"><strong>${t('talk.role.USER')}</strong></header>
      <div class="said" dir="auto">${content}</div>
      <${Vanishing} class="row" role="status">
        <span class="quiet">${t(`talk.outgoing.${state}`)}</span>
        ${state === 'busy' ? html`
          <button type="button" class="primary" onClick=${deliver('QUEUE')}>${t('talk.queue')}</button>` : null}
        ${state === 'busy' || state === 'waiting' ? html`
          <button type="button" onClick=${deliver('INTERRUPT')}>${t('talk.interrupt')}</button>` : null}
        ${state === 'lost' ? html`
          <button type="button" class="primary" onClick=${deliver('REJECT')}>${t('talk.again')}</button>` : null}
        ${state === 'busy' || state === 'lost' ? html`
          <button type="button" onClick=${() => sending.takeBack()}>${t('talk.edit')}</button>` : null}
      <//>
    </article>`;
}

/** @param {{talk: Conversation}} props */
export function LiveTurn({ talk }) {
  const turn = talk.turn.value;
  const text = turn?.text.value;
  return html`
    ${text ? html`
      <article class="message assistant live" aria-label=${t('talk.role.ASSISTANT')}>
        <header class="row"><strong>${t('talk.role.ASSISTANT')}</strong></header>
        <${Markdown} text=${text} />
      </article>` : null}
    <p class=${`progress ${turn ? '' : 'unseen'}`} role="status">${turn ? t(progressOf(turn)) : ''}</p>`;
}

/** @param {import('./turn.js').Turn} turn */
function progressOf(turn) {
  if (turn.isStopping.value) return 'talk.stopping';
  if (turn.pending.value.length) return 'talk.waitsForYes';
  if (turn.text.value) return 'talk.writing';
  return [...turn.calls.value.values()].some((call) => call.state === 'running') ? 'talk.working' : 'talk.thinking';
}

/** How the last turn ended, where it did not end well. @param {{talk: Conversation}} props */
export function Outcome({ talk }) {
  const last = talk.last.value;
  if (talk.turn.value || talk.sending.outgoing.value || talk.isRepeating.value || !last) return null;
  if (last.error) {
    return html`
      <${Vanishing} class="notice row" role="alert">
        <span class="grow">${t('talk.failed', { reason: last.error.message })}</span>
        ${last.error.retryable && canWrite.value ? html`
          <button type="button" onClick=${() => talk.again().catch(sayRefusal)}>${t('talk.again')}</button>` : null}
      <//>`;
  }
  if (last.stopReason === 'REFUSAL') return html`<p class="notice">${t('talk.refused')}</p>`;
  if (last.stopReason === 'CANCELLED') return html`<p class="quiet">${t('talk.cancelled')}</p>`;
  return null;
}
