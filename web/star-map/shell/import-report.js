/** What became of a file that was imported. */
import { html } from '../html.js';
import { t } from '../texts.js';

/** @typedef {{count: number, reasons: Record<string, number>, details: {where: string, why: string}[]}} Remarks */

/** @param {{report: any}} props as the server tells it */
export function Report({ report }) {
  const { sessions, forks, messages, hidden } = report;
  if (!report.importedAnythingValid) {
    return html`<p class="error">${t('import.nothing')}</p><${Skipped} report=${report} />`;
  }
  return html`
    <ul class="report">
      <li><strong>${t('import.imported', { n: sessions.imported })}</strong>${forks > 0 && ` ${t('import.forks', { n: forks })}`}</li>
      ${sessions.extended > 0 && html`<li>${t('import.extended', { n: sessions.extended })}</li>`}
      ${sessions.present > 0 && html`<li>${t('import.present', { n: sessions.present })}</li>`}
      <li>${t('import.messages', { n: messages })}</li>
      ${hidden > 0 && html`<li class="quiet">${t('import.hidden', { n: hidden })}</li>`}
    </ul>
    <${Skipped} report=${report} />`;
}

/** @param {{report: any}} props */
function Skipped({ report }) {
  return html`
    <${Remarked} title=${t('import.skipped', { n: report.skipped.count })} remarks=${report.skipped} />
    <${Remarked} title=${t('import.repaired', { n: report.repaired.count })} remarks=${report.repaired} />
    <${Remarked} title=${t('import.not-looked-at', { n: report.notLookedAt.count })} remarks=${report.notLookedAt} />`;
}

/** @param {{title: string, remarks: Remarks}} props */
function Remarked({ title, remarks }) {
  if (remarks.count === 0) return null;
  const more = remarks.count - remarks.details.length;
  return html`
    <details>
      <summary>${title}</summary>
      <ul class="report">
        ${remarks.details.map(({ where, why }) => html`<li>${where}: ${why}</li>`)}
        ${more > 0 && html`<li class="quiet">${t('import.more', { n: more })}</li>`}
      </ul>
    </details>`;
}
