/** What other sessions may know of one session, and what it knows of them. */
import { query } from '../graphql.js';
import { html } from '../html.js';
import { Read, useReading, useSessionEvents } from './read.js';
import { Compression } from './memory/compression.js';
import { Digest } from './memory/digest.js';
import { Insight } from './memory/insight.js';
import { Synthesis } from './memory/synthesis.js';
import { t } from '../texts.js';

const MEMORY = `query Memory($id: ID!) {
  session(id: $id) {
    id role status strategy memory synthesis rollup messageCount
    insight { content sourceSessionId putAt }
    compression { summary throughSeq tokens createdAt }
  }
}`;

/**
 * What each part of the panel is given.
 * @typedef {{session: any, change: (mutation: string, variables?: Record<string, any>) => Promise<any>}} Part
 *   `change` does it and reads the panel again
 */

/** @param {{id: string}} props */
export function Memory({ id }) {
  const reading = useReading(MEMORY, { id });
  useSessionEvents(id, reading.again);
  const change = async (/** @type {string} */ mutation, variables = {}) => {
    const data = await query(mutation, { id, ...variables });
    await reading.again();
    return data;
  };
  return html`
    <section class="panel" aria-label=${t('memory.title')}>
      <${Read} reading=${reading}>${(/** @type {any} */ { session }) => session
        ? html`<${Parts} session=${session} change=${change} />`
        : html`<p class="quiet">${t('panels.gone')}</p>`}
      <//>
    </section>`;
}

/** @param {Part} part */
function Parts({ session, change }) {
  const isMain = session.role === 'MAIN';
  return html`
    <${Digest} session=${session} change=${change} />
    ${isMain && html`<${Synthesis} session=${session} change=${change} />`}
    ${session.strategy === 'HIERARCHICAL' && !isMain && html`<${Rollup} text=${session.rollup} />`}
    <${Insight} session=${session} change=${change} />
    <${Compression} session=${session} change=${change} />`;
}

/** @param {{text: string | null}} props */
function Rollup({ text }) {
  return html`
    <section class="part" aria-label=${t('memory.rollup')}>
      <h3>${t('memory.rollup')}</h3>
      <p class="quiet">${t('memory.rollup-about')}</p>
      ${text ? html`<p class="prose">${text}</p>` : html`<p class="quiet">${t('memory.none-yet')}</p>`}
    </section>`;
}
