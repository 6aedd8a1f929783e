/** What all sessions of a Space may recall. */
import { query } from '../../graphql.js';
import { html } from '../../html.js';
import { canWrite } from '../../state.js';
import { t } from '../../texts.js';
import { Text } from '../fields.js';
import { Read, useReading } from '../read.js';
import { Entries } from './entries.js';

const ALL = '{ sharedMemories { slug summary body } space { config { sharedMemory } } }';
const PUT = `mutation Put($slug: String!, $summary: String!, $body: String!) {
  putSharedMemory(slug: $slug, summary: $summary, body: $body) { slug }
}`;
const DELETE = 'mutation Delete($slug: String!) { deleteSharedMemory(slug: $slug) }';

/** @returns {import('./entries.js').Kind} */
function kind() {
  return {
    section: 'shared',
    none: t('space.none'),
    add: t('space.add-memory'),
    blank: { slug: '', summary: '', body: '' },
    nameOf: ({ slug }) => slug,
    aboutOf: ({ summary }) => summary,
    fields: (field, isNew) => html`
      ${isNew && html`<${Text} label=${t('space.slug')} hint=${t('space.slug-hint')} required ...${field('slug')} />`}
      <${Text} label=${t('space.summary')} hint=${t('space.summary-hint')} required ...${field('summary')} />
      <${Text} label=${t('space.body')} rows=${6} ...${field('body')} />`,
    put: (fields) => query(PUT, fields),
    remove: (slug) => query(DELETE, { slug }),
  };
}

export function SharedMemories() {
  const reading = useReading(ALL);
  return html`
    <${Read} reading=${reading}>${(/** @type {any} */ { sharedMemories, space }) => html`
      ${space.config.sharedMemory
        ? html`<p class="quiet">${t('space.shared-about')}</p>`
        : html`<p class="notice">${t('space.shared-off')}</p>`}
      <${Entries} kind=${kind()} entries=${sharedMemories} canEdit=${canWrite.value} again=${reading.again} />`}
    <//>`;
}
