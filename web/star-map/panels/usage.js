/** What models took, and other numbers beside it. */
import { html } from '../html.js';
import { dateTime, language, t } from '../texts.js';

/** @param {{usage: Record<string, number>, counts: [name: string, count: number][], createdAt: string}} props */
export function Usage({ usage, counts, createdAt }) {
  const rows = [
    ...counts,
    [t('usage.calls'), usage.llmCalls],
    [t('usage.input'), usage.inputTokens],
    [t('usage.output'), usage.outputTokens],
    [t('usage.cache-read'), usage.cacheReadTokens],
    [t('usage.cache-write'), usage.cacheWriteTokens],
  ];
  return html`
    <section class="part" aria-label=${t('usage.title')}>
      <h3>${t('usage.title')}</h3>
      <dl class="facts">
        ${rows.map(([name, count]) => html`
          <div key=${name}><dt>${name}</dt><dd>${count.toLocaleString(language.value)}</dd></div>`)}
        <div><dt>${t('usage.created')}</dt><dd>${dateTime(createdAt)}</dd></div>
      </dl>
    </section>`;
}
