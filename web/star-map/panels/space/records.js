/** L1: what the application keeps for the whole Space, key by key. */
import { Refusal, query } from '../../graphql.js';
import { html, useSignal } from '../../html.js';
import { canWrite } from '../../state.js';
import { dateTime, t } from '../../texts.js';
import { Json, Text } from '../fields.js';
import { Read, useReading } from '../read.js';
import { Entries } from './entries.js';
import { askWhich } from './which.js';

const PAGE = 100;
const MOST = 1_000;
const ALL = `query Records($prefix: String!, $first: Int!) {
  records(prefix: $prefix, first: $first) { key value revision updatedAt }
}`;
const ONE = 'query Record($key: String!) { record(key: $key) { value revision } }';
const PUT = `mutation Put($key: String!, $value: JSON!, $revision: Int!) {
  putRecord(key: $key, value: $value, expectedRevision: $revision) { revision }
}`;
const DELETE = 'mutation Delete($key: String!) { deleteRecord(key: $key) }';

/**
 * Writes where nobody wrote since the change began; where somebody did, asks which of the two stays.
 * @param {Record<string, any>} fields
 * @param {Record<string, any>} base as it was read then
 * @returns {Promise<boolean>} whether it was written
 */
async function put({ key, value }, { revision }) {
  try {
    await query(PUT, { key, value: JSON.parse(value), revision });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'CONFLICT') throw error;
    const { record } = await query(ONE, { key });
    const which = await askWhich(key, value, record);
    if (which === undefined) throw error;
    return which === 'mine' && put({ key, value }, { revision: record?.revision ?? 0 });
  }
}

/** @returns {import('./entries.js').Kind} */
function kind() {
  return {
    section: 'records',
    none: t('space.no-records'),
    add: t('space.add-record'),
    blank: { key: '', value: '{}', revision: 0 },
    nameOf: ({ key }) => key,
    aboutOf: ({ revision, updatedAt }) => t('space.revision', { revision, at: dateTime(updatedAt) }),
    fields: (field, isNew) => html`
      ${isNew && html`<${Text} label=${t('space.key')} hint=${t('space.key-hint')} required ...${field('key')} />`}
      <${Json} label=${t('space.value')} rows=${6} ...${field('value')} />`,
    put,
    isGuarded: true,
    remove: (key) => query(DELETE, { key }),
  };
}

export function Records() {
  const prefix = useSignal('');
  const first = useSignal(PAGE);
  const reading = useReading(ALL, { prefix: prefix.value, first: first.value });
  return html`
    <p class="quiet">${t('space.records-about')}</p>
    <${Text} label=${t('space.prefix')} type="search" value=${prefix.value}
      set=${(/** @type {string} */ text) => { prefix.value = text; }} />
    <${Read} reading=${reading}>${(/** @type {any} */ { records }) => html`
      <${Entries} kind=${kind()} canEdit=${canWrite.value} again=${reading.again}
        entries=${records.map((/** @type {any} */ record) => ({ ...record, value: JSON.stringify(record.value, null, 2) }))} />
      ${records.length === first.value && (first.value < MOST
        ? html`<button type="button" onClick=${() => { first.value = Math.min(MOST, first.value + PAGE); }}>${t('space.more')}</button>`
        : html`<p class="quiet">${t('space.narrow', { n: MOST })}</p>`)}`}
    <//>`;
}
