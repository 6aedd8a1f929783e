/** What changed on the map, newest first, as it happens. */
import { html, useSignal } from '../html.js';
import { t } from '../texts.js';
import { Choice, Text } from './fields.js';
import { Row } from './events/row.js';
import { TYPES, useEvents } from './events/stream.js';

export function Events() {
  const type = useSignal(/** @type {string | null} */ (null));
  const words = useSignal('');
  const { events, waiting, isPaused, pause, refusal, isLoading } = useEvents();
  const found = events.filter((event) => isWanted(event, type.value, words.value));
  return html`
    <section class="panel" aria-label=${t('events.title')}>
      <div class="row events-bar">
        <${Choice} label=${t('events.type')} value=${type.value} set=${(/** @type {string | null} */ name) => { type.value = name; }}
          options=${[[null, t('events.all')], ...TYPES.map((name) => [name, t(`events.is.${name}`)])]} />
        <${Text} label=${t('events.words')} type="search" value=${words.value}
          set=${(/** @type {string} */ text) => { words.value = text; }} />
        <button type="button" aria-pressed=${isPaused} onClick=${pause}>${t('events.pause')}</button>
      </div>
      <p class="quiet" role="status">${isPaused ? t('events.waiting', { n: waiting }) : isLoading ? t('panels.loading') : t('events.shown', { n: found.length })}</p>
      ${refusal && html`<p class="error" role="alert">${refusal}</p>`}
      <ol class="plain-list">${found.map((event) => html`<${Row} key=${event.seq} event=${event} />`)}</ol>
    </section>`;
}

/**
 * @param {import('../live.js').TopologyEvent} event
 * @param {string | null} type
 * @param {string} words
 */
function isWanted(event, type, words) {
  if (type !== null && event.type !== type) return false;
  const text = `${event.node?.label ?? ''} ${event.nodeId} ${JSON.stringify(event.data)}`;
  return text.toLowerCase().includes(words.trim().toLowerCase());
}
