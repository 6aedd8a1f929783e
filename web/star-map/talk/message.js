/** One message with what its tools gave, and what can be done with it. */
import { html } from '../html.js';
import { canWrite, open } from '../state.js';
import { dateTime, t } from '../texts.js';
import { copy } from './copy.js';
import { askFork } from './fork-dialog.js';
import { Markdown } from './markdown-view.js';
import { Parts } from './parts.js';
import { labelOf } from './sources.js';
import { ToolCall } from './tool-call.js';

/**
 * @param {{group: import('./transcript.js').Group, talk: import('./conversation.js').Conversation, mayFork: boolean}} props
 */
export function Message({ group, talk, mayFork }) {
  const { head, results, end, isWhole } = group;
  const who = t(`talk.role.${head.role}`);
  const turn = head.turnId ? talk.followed.get(head.turnId) : undefined;
  return html`
    <article class=${`message ${head.role.toLowerCase()}`} data-seq=${head.seq} aria-label=${who}>
      <header class="row">
        <strong>${who}</strong>
        <${Facts} message=${head} id=${talk.id} />
        <div class="actions">
          ${head.content ? html`<button type="button" class="plain" onClick=${() => copy(head.content)}>${t('talk.copy')}</button>` : null}
          ${mayFork && isWhole && canWrite.value ? html`
            <button type="button" class="plain" aria-label=${t('talk.forkHere')} title=${t('talk.forkHere')}
              onClick=${() => talk.session.value && askFork(talk.session.value, end)}>${t('talk.fork')}</button>` : null}
        </div>
      </header>
      <${Parts} parts=${head.parts} />
      <${Said} message=${head} />
      ${head.toolCalls.map((call, place) => html`
        <${ToolCall} key=${call.id} call=${call} result=${resultOf(results, call.id, place)} turn=${turn} />`)}
    </article>`;
}

/** By its id; ids are only one turn's own, so the place decides where one comes twice. */
function resultOf(/** @type {import('./transcript.js').Message[]} */ results, /** @type {string} */ id, /** @type {number} */ place) {
  const mine = results.filter((result) => result.toolCallId === id);
  return mine.length === 1 ? mine[0] : mine.find((result) => result === results[place]);
}

/** @param {{message: import('./transcript.js').Message}} props */
function Said({ message }) {
  if (!message.content) return null;
  if (message.role === 'ASSISTANT') return html`<${Markdown} text=${message.content} />`;
  if (message.role === 'TOOL') return html`<pre tabindex="0">${message.content}</pre>`;
  return html`<div class="said" dir="auto">${message.content}</div>`;
}

/** @param {{message: import('./transcript.js').Message, id: string}} props */
function Facts({ message, id }) {
  const { model, usage, state, sessionId, createdAt } = message;
  return html`
    <span class="facts">
      <time datetime=${createdAt}>${dateTime(createdAt)}</time>
      ${model ? html`<span>${model}</span>` : null}
      ${usage ? html`<span title=${t('talk.tokensLong')}>${tokens(usage)}</span>` : null}
      ${state === 'COMPLETE' ? null : html`<span class="mark">${t(`talk.state.${state}`)}</span>`}
      ${sessionId === id ? null : html`<${From} id=${sessionId} />`}
    </span>`;
}

/** @param {NonNullable<import('./transcript.js').Message['usage']>} usage */
function tokens({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens }) {
  return t('talk.tokens', { input: inputTokens + cacheReadTokens + cacheWriteTokens, output: outputTokens });
}

/** Where a message was written. @param {{id: string}} props */
export function From({ id }) {
  const label = labelOf(id);
  if (label === undefined) return null;
  if (label === null) return html`<span>${t('talk.fromDeleted')}</span>`;
  return html`<button type="button" class="plain from" onClick=${() => open(id)}>${t('talk.from', { label })}</button>`;
}
