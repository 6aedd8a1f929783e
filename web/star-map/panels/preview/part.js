/** One part of a context, with a mark that says where it comes from. */
import { html } from '../../html.js';
import { t } from '../../texts.js';

/** @param {{message: any}} props */
export function Part({ message: { role, content, origin, seq, toolCalls, toolCallId } }) {
  return html`
    <li class=${`context-part origin-${origin.toLowerCase().replaceAll('_', '-')}`}>
      <p class="row">
        <span class="mark">${t(`preview.origin.${origin}`)}</span>
        <span class="quiet">${t(`preview.role.${role}`)}${seq !== null && ` · ${t('preview.seq', { seq })}`}</span>
      </p>
      ${content && html`<p class="prose">${content}</p>`}
      ${toolCalls.map((/** @type {any} */ call) => html`
        <p key=${call.id}><code>${call.name}(${JSON.stringify(call.arguments)})</code></p>`)}
      ${toolCallId && html`<p class="quiet">${t('preview.answers')} <code>${toolCallId}</code></p>`}
      ${!content && !toolCalls.length && html`<p class="quiet">${t('preview.empty')}</p>`}
    </li>`;
}
