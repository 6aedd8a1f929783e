/** All that one session is told to be, and what may be done to it as a whole. */
import { query } from '../graphql.js';
import { html } from '../html.js';
import { canWrite } from '../state.js';
import { t } from '../texts.js';
import { Read, useReading, useSessionEvents } from './read.js';
import { Ending } from './settings/ending.js';
import { Refs } from './settings/refs.js';
import { Said } from './settings/said.js';
import { Trim } from './settings/trim.js';
import { Usage } from './usage.js';

const SETTINGS = `query Settings($id: ID!) {
  session(id: $id) {
    id label role status strategy systemPrompt skills tags metadata messageCount turnCount createdAt
    overrides { model consolidatePrompt integratePrompt compressPrompt roleContext }
    usage { inputTokens outputTokens cacheReadTokens cacheWriteTokens llmCalls }
    node { refs(first: 1000) { id label } referencedBy(first: 1000) { id label } }
  }
  skills { name description }
  space { config { systemPrompt model consolidatePrompt integratePrompt compressPrompt roleContext } }
}`;

/**
 * @typedef {{session: any, change: (mutation: string, variables?: Record<string, any>) => Promise<any>}} Part
 *   `change` does it and reads the panel again
 */

/** @param {{id: string}} props */
export function Settings({ id }) {
  const reading = useReading(SETTINGS, { id });
  useSessionEvents(id, reading.again);
  const change = async (/** @type {string} */ mutation, variables = {}) => {
    const data = await query(mutation, { id, ...variables });
    await reading.again();
    return data;
  };
  return html`
    <section class="panel" aria-label=${t('settings.title')}>
      ${!canWrite.value && html`<p class="notice">${t('panels.read-only')}</p>`}
      <${Read} reading=${reading}>${(/** @type {any} */ { session, skills, space }) => session
        ? html`
          <${Said} session=${session} change=${change} skills=${skills} config=${space.config} />
          <${Refs} session=${session} change=${change} />
          <${Usage} usage=${session.usage} counts=${[
            [t('settings.turns'), session.turnCount], [t('settings.messages'), session.messageCount],
          ]} createdAt=${session.createdAt} />
          ${canWrite.value && html`
            <${Trim} session=${session} change=${change} />
            <${Ending} session=${session} change=${change} />`}`
        : html`<p class="quiet">${t('panels.gone')}</p>`}
      <//>
    </section>`;
}
