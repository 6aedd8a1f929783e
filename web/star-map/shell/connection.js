/** Says when changes do not come any more, and goes when they do. */
import { connection } from '../graphql.js';
import { html } from '../html.js';
import { t } from '../texts.js';

export function Connection() {
  const lost = connection.value === 'lost';
  return html`<div class="connection" role="status">${lost && html`<p class="notice">${t('page.lost')}</p>`}</div>`;
}
