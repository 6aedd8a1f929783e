/** What a message holds besides text: thoughts, pictures, documents. */
import { html } from '../html.js';
import { t } from '../texts.js';

const PICTURES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** @param {{parts: any}} props */
export function Parts({ parts }) {
  if (!Array.isArray(parts)) return null;
  return parts.map((part, place) => html`<${Part} key=${place} part=${part} />`);
}

/** @param {{part: any}} props */
function Part({ part }) {
  if (part?.type === 'thinking') return html`<${Thought} text=${String(part.thinking ?? '')} />`;
  if (part?.type === 'redacted_thinking') return html`<p class="quiet">${t('talk.hiddenThought')}</p>`;
  if (part?.type === 'image') return html`<${Picture} source=${part.source} />`;
  if (part?.type === 'document') return html`<p class="quiet">${t('talk.document', { name: String(part.title ?? '') })}</p>`;
  return null;
}

/** @param {{text: string}} props */
function Thought({ text }) {
  if (!text) return null;
  return html`
    <details class="thought">
      <summary>${t('talk.thought')}</summary>
      <div class="said" dir="auto">${text}</div>
    </details>`;
}

/** Only what came with the message is shown; nothing is fetched. @param {{source: any}} props */
function Picture({ source }) {
  if (source?.type !== 'base64' || !PICTURES.has(source.media_type)) {
    return html`<p class="quiet">${t('talk.pictureElsewhere')}</p>`;
  }
  return html`<img class="picture" alt=${t('talk.picture')} src=${`data:${source.media_type};base64,${source.data}`} />`;
}
