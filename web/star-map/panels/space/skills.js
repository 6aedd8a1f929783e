/** Instructions that sessions take on when they need them. */
import { query } from '../../graphql.js';
import { html } from '../../html.js';
import { canAdmin } from '../../state.js';
import { t } from '../../texts.js';
import { Text } from '../fields.js';
import { Read, useReading } from '../read.js';
import { Entries } from './entries.js';

const ALL = '{ skills { name description content } }';
const PUT = `mutation Put($name: String!, $description: String!, $content: String!) {
  putSkill(name: $name, description: $description, content: $content) { name }
}`;
const DELETE = 'mutation Delete($name: String!) { deleteSkill(name: $name) }';

/** @returns {import('./entries.js').Kind} */
function kind() {
  return {
    section: 'skills',
    none: t('space.none'),
    add: t('space.add-skill'),
    blank: { name: '', description: '', content: '' },
    nameOf: ({ name }) => name,
    aboutOf: ({ description }) => description,
    fields: (field, isNew) => html`
      ${isNew && html`<${Text} label=${t('space.name')} required ...${field('name')} />`}
      <${Text} label=${t('space.description')} ...${field('description')} />
      <${Text} label=${t('space.content')} rows=${8} required ...${field('content')} />`,
    put: (fields) => query(PUT, fields),
    remove: (name) => query(DELETE, { name }),
  };
}

export function Skills() {
  const reading = useReading(ALL);
  return html`
    <p class="quiet">${t('space.skills-about')}</p>
    <${Read} reading=${reading}>${(/** @type {any} */ { skills }) => html`
      <${Entries} kind=${kind()} entries=${skills} canEdit=${canAdmin.value} again=${reading.again} />`}
    <//>`;
}
