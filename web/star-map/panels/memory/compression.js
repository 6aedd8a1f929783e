/** The standing summary in place of the older part of a transcript. */
import { html, useSignal } from '../../html.js';
import { say } from '../../shell/toasts.js';
import { canWrite } from '../../state.js';
import { dateTime, t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { Count } from '../fields.js';

const KEPT = 10;
const COMPACT = `mutation Compact($id: ID!, $keepLast: Int!) {
  compact(sessionId: $id, keepLast: $keepLast) { compression { throughSeq createdAt } }
}`;

/** @param {import('../memory.js').Part} part */
export function Compression({ session, change }) {
  const keepLast = useSignal(/** @type {number | null} */ (KEPT));
  const { compression } = session;
  const compact = async () => {
    const { compact: fresh } = await change(COMPACT, { keepLast: Math.max(0, keepLast.value ?? KEPT) });
    const isNew = fresh.compression && fresh.compression.createdAt !== compression?.createdAt;
    say(isNew ? t('memory.compacted', { seq: fresh.compression.throughSeq }) : t('memory.nothing-to-compact'));
  };
  return html`
    <section class="part" aria-label=${t('memory.compression')}>
      <h3>${t('memory.compression')}</h3>
      <p class="quiet">${t('memory.compression-about')}</p>
      ${compression
        ? html`
          <p class="prose">${compression.summary}</p>
          <p class="quiet">
            ${t('memory.compressed', { seq: compression.throughSeq, tokens: compression.tokens })}
            ${' · '}<time datetime=${compression.createdAt}>${dateTime(compression.createdAt)}</time>
          </p>`
        : html`<p class="quiet">${t('memory.not-compressed', { n: session.messageCount })}</p>`}
      ${canWrite.value && html`
        <div class="row aligned">
          <${Count} label=${t('memory.keep-last')} min=${0} value=${keepLast.value}
            set=${(/** @type {number | null} */ count) => { keepLast.value = count; }} />
          <${ActionButton} label=${t('memory.compact')} busy=${t('memory.compacting')} act=${compact} />
        </div>`}
    </section>`;
}
