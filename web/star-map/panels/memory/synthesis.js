/** A MAIN session's view of its whole tree, and the insights that come of it. */
import { html, useSignal } from '../../html.js';
import { say } from '../../shell/toasts.js';
import { canWrite } from '../../state.js';
import { t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { SessionLink, useLabels } from '../session-link.js';

const INTEGRATE = `mutation Integrate($id: ID!, $force: Boolean!) {
  integrate(sessionId: $id, force: $force) { called insights { sessionId content } dropped }
}`;

/** @param {import('../memory.js').Part} part */
export function Synthesis({ session, change }) {
  const outcome = useSignal(/** @type {any} */ (null));
  const integrate = (/** @type {boolean} */ force) => async () => {
    const { integrate: fresh } = await change(INTEGRATE, { force });
    outcome.value = fresh;
    say(fresh.called ? t('memory.integrated', { n: fresh.insights.length }) : t('memory.nothing-new'));
  };
  return html`
    <section class="part" aria-label=${t('memory.synthesis')}>
      <h3>${t('memory.synthesis')}</h3>
      <p class="quiet">${t('memory.synthesis-about')}</p>
      ${session.synthesis
        ? html`<p class="prose">${session.synthesis}</p>`
        : html`<p class="quiet">${t('memory.none-yet')}</p>`}
      ${canWrite.value && html`
        <div class="row">
          <${ActionButton} label=${t('memory.integrate')} busy=${t('memory.integrating')} act=${integrate(false)} />
          ${outcome.value && !outcome.value.called && html`
            <${ActionButton} label=${t('memory.force')} busy=${t('memory.integrating')} act=${integrate(true)} />`}
        </div>`}
      ${outcome.value && html`<${Outcome} outcome=${outcome.value} />`}
    </section>`;
}

/** @param {{outcome: any}} props */
function Outcome({ outcome: { called, insights, dropped } }) {
  const labelOf = useLabels([...insights.map((/** @type {any} */ insight) => insight.sessionId), ...dropped]);
  if (!called) return html`<p class="quiet">${t('memory.nothing-new')}</p>`;
  return html`
    <h4>${t('memory.integrated', { n: insights.length })}</h4>
    <ul class="plain-list">
      ${insights.map((/** @type {any} */ { sessionId, content }) => html`
        <li key=${sessionId}>
          <${SessionLink} id=${sessionId} label=${labelOf(sessionId)} />
          <p class="prose">${content}</p>
        </li>`)}
    </ul>
    ${dropped.length > 0 && html`
      <h4>${t('memory.dropped', { n: dropped.length })}</h4>
      <p class="quiet">${t('memory.dropped-about')}</p>
      <ul class="plain-list">
        ${dropped.map((/** @type {string} */ id) => html`
          <li key=${id}><${SessionLink} id=${id} label=${labelOf(id)} /></li>`)}
      </ul>`}`;
}
