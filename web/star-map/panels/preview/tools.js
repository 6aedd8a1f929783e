/** The tools that the model is offered. */
import { html } from '../../html.js';
import { t } from '../../texts.js';

/** @param {{tools: any[]}} props */
export function Tools({ tools }) {
  return html`
    <section class="part" aria-label=${t('preview.tools')}>
      <h3>${t('preview.tools')}</h3>
      ${tools.length === 0 && html`<p class="quiet">${t('preview.no-tools')}</p>`}
      ${tools.map(({ name, description, inputSchema, needsConfirmation }) => html`
        <details key=${name}>
          <summary>
            <code>${name}</code>
            ${needsConfirmation && html` <span class="mark">${t('preview.confirmed')}</span>`}
          </summary>
          <div class="stack">
            <p>${description}</p>
            <pre class="prose" tabindex="0" aria-label=${t('preview.schema', { name })}>${JSON.stringify(inputSchema, null, 2)}</pre>
          </div>
        </details>`)}
    </section>`;
}
