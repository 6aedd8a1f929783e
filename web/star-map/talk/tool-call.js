/** One tool call of a message: what was asked, what came of it, and the question where it waits for a yes. */
import { html, useState } from '../html.js';
import { reason as reasonOf } from '../shell/toasts.js';
import { canWrite } from '../state.js';
import { t } from '../texts.js';
import { Parts } from './parts.js';
import { Vanishing } from './vanishing.js';

/**
 * @param {{
 *   call: {id: string, name: string, arguments: any},
 *   result?: import('./transcript.js').Message,
 *   turn?: import('./turn.js').Turn,
 * }} props `turn` where it was followed here
 */
export function ToolCall({ call, result, turn }) {
  const facts = turn?.calls.value.get(call.id);
  const isAsked = turn?.pending.value.includes(call.id) ?? false;
  const finished = facts?.state === 'done' ? facts : null;
  const state = stateOf({ result, facts, isAsked });
  return html`
    <details class=${`tool ${state}`} open=${isAsked}>
      <summary>
        <span class="tool-name">${call.name}</span>
        <span class="quiet">${t(`talk.tool.${state}`)}</span>
        ${finished ? html`<span class="quiet">${duration(finished.durationMs)}</span>` : null}
      </summary>
      <div class="stack tool-body">
        <h4>${t('talk.arguments')}</h4>
        <pre tabindex="0">${JSON.stringify(call.arguments, null, 2)}</pre>
        <${Result} text=${result?.content ?? finished?.content} parts=${result?.parts} />
      </div>
    </details>
    ${isAsked && turn ? html`<${Question} call=${call} turn=${turn} />` : null}`;
}

/** @param {{result?: import('./transcript.js').Message, facts?: import('./turn.js').CallFacts, isAsked: boolean}} known */
function stateOf({ result, facts, isAsked }) {
  if (isAsked) return 'asked';
  if (result?.state === 'CANCELLED') return 'cancelled';
  if (result) return result.isError ? 'failed' : 'done';
  if (facts?.state === 'done') return facts.isError ? 'failed' : 'done';
  return facts ? 'running' : 'open';
}

/** @param {number} ms */
function duration(ms) {
  return ms < 1000 ? t('talk.milliseconds', { ms }) : t('talk.seconds', { s: (ms / 1000).toFixed(1) });
}

/** @param {{text?: string, parts?: any}} props */
function Result({ text, parts }) {
  if (text === undefined) return null;
  return html`
    <h4>${t('talk.result')}</h4>
    <pre tabindex="0">${text || t('talk.nothing')}</pre>
    <${Parts} parts=${parts} />`;
}

/** @param {{call: {id: string, name: string}, turn: import('./turn.js').Turn}} props */
function Question({ call, turn }) {
  const [reason, setReason] = useState('');
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const answer = async (/** @type {boolean} */ approve) => {
    if (isBusy) return;
    setBusy(true);
    await turn.confirm(call.id, approve, reason).catch((error) => setProblem(reasonOf(error)));
    setBusy(false);
  };
  return html`
    <${Vanishing} class="question stack" role="group" label=${t('talk.mayIt', { name: call.name })}>
      <p>${t('talk.mayIt', { name: call.name })}</p>
      ${canWrite.value ? html`
        <div class="row">
          <button type="button" class="primary" aria-disabled=${isBusy} onClick=${() => answer(true)}>${t('talk.approve')}</button>
          <button type="button" aria-disabled=${isBusy} onClick=${() => answer(false)}>${t('talk.refuse')}</button>
          <input class="grow" aria-label=${t('talk.reason')} placeholder=${t('talk.reason')} value=${reason}
            onInput=${(/** @type {any} */ event) => setReason(event.currentTarget.value)} />
        </div>` : null}
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : null}
    <//>`;
}
