/** What the model would see next, part by part, and where each part comes from. */
import { html, useSignal } from '../html.js';
import { language, t } from '../texts.js';
import { Text } from './fields.js';
import { Read, useReading, useSessionEvents } from './read.js';
import { Tools } from './preview/tools.js';
import { Part } from './preview/part.js';

const PREVIEW = `query Preview($id: ID!, $content: String!) {
  contextPreview(sessionId: $id, content: $content) {
    messages { role content origin seq toolCallId toolCalls { id name arguments } }
    tools { name description inputSchema needsConfirmation }
    estimatedTokens maxContextTokens wouldCompress
  }
}`;
const FIRST = 3;
const LAST = 7;

/** @param {{id: string}} props */
export function Preview({ id }) {
  const words = useSignal('');
  const reading = useReading(PREVIEW, { id, content: words.value });
  useSessionEvents(id, reading.again);
  return html`
    <section class="panel" aria-label=${t('preview.title')}>
      <p class="quiet">${t('preview.about')}</p>
      <${Text} label=${t('preview.words')} rows=${2} value=${words.value}
        set=${(/** @type {string} */ text) => { words.value = text; }} />
      <${Read} reading=${reading}>${(/** @type {any} */ { contextPreview }) => html`
        <${Size} preview=${contextPreview} />
        <${Messages} messages=${contextPreview.messages} />
        <${Tools} tools=${contextPreview.tools} />`}
      <//>
    </section>`;
}

/** @param {{preview: any}} props */
function Size({ preview: { estimatedTokens, maxContextTokens, wouldCompress } }) {
  const words = t('preview.tokens', { tokens: estimatedTokens, max: maxContextTokens });
  const share = (estimatedTokens / maxContextTokens).toLocaleString(language.value, {
    style: 'percent', maximumFractionDigits: 1,
  });
  return html`
    <div class="stack">
      <p><strong>${words}</strong> <span class="quiet">(${share})</span></p>
      <meter class="tokens" min="0" max=${maxContextTokens} high=${maxContextTokens * 0.8} value=${estimatedTokens}
        aria-label=${words} />
      ${wouldCompress && html`<p class="notice">${t('preview.would-compress')}</p>`}
    </div>`;
}

/**
 * A long context shows its beginning and its end, where all that is not transcript stands.
 * @param {{messages: any[]}} props
 */
function Messages({ messages }) {
  const isWhole = useSignal(false);
  const start = messages.findIndex(({ origin }) => origin === 'TRANSCRIPT') + FIRST;
  const end = messages.length - LAST;
  const isLong = end - start > 1 && start >= FIRST;
  const part = (/** @type {any} */ message, /** @type {number} */ place) =>
    html`<${Part} key=${place} message=${message} />`;
  if (!isLong || isWhole.value) return html`<ol class="plain-list context">${messages.map(part)}</ol>`;
  return html`
    <ol class="plain-list context">
      ${messages.slice(0, start).map(part)}
      <li>
        <button type="button" onClick=${() => { isWhole.value = true; }}>${t('preview.show-all', { n: end - start })}</button>
      </li>
      ${messages.slice(end).map((message, place) => part(message, end + place))}
    </ol>`;
}
