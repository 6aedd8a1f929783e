/** Dropping the older messages of a session's view. */
import { html, useSignal } from '../../html.js';
import { confirm } from '../../shell/dialog.js';
import { say } from '../../shell/toasts.js';
import { t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { Count } from '../fields.js';

const KEPT = 50;
const TRIM = `mutation Trim($id: ID!, $keepLast: Int!) {
  trimMessages(sessionId: $id, keepLast: $keepLast) { messageCount }
}`;

/** @param {import('../settings.js').Part} part */
export function Trim({ session, change }) {
  const keepLast = useSignal(/** @type {number | null} */ (KEPT));
  const trim = async () => {
    const kept = Math.max(0, keepLast.value ?? KEPT);
    const isSure = await confirm({
      title: t('settings.trim'),
      text: t('settings.trim-sure', { n: Math.max(0, session.messageCount - kept) }),
      action: t('settings.trim'),
      danger: true,
    });
    if (!isSure) return;
    const { trimMessages } = await change(TRIM, { keepLast: kept });
    say(t('settings.trimmed', { n: trimMessages.messageCount }));
  };
  return html`
    <section class="part" aria-label=${t('settings.trim')}>
      <h3>${t('settings.trim')}</h3>
      <p class="quiet">${t('settings.trim-about', { n: session.messageCount })}</p>
      <div class="row aligned">
        <${Count} label=${t('memory.keep-last')} min=${0} value=${keepLast.value}
          set=${(/** @type {number | null} */ count) => { keepLast.value = count; }} />
        <${ActionButton} label=${t('settings.trim')} act=${trim} kind="danger" />
      </div>
    </section>`;
}
