/** Recipes for forks. */
import { query } from '../../graphql.js';
import { html } from '../../html.js';
import { canAdmin } from '../../state.js';
import { t } from '../../texts.js';
import { Choice, OptionalText, OwnText, Text } from '../fields.js';
import { Read, useReading } from '../read.js';
import { Entries } from './entries.js';

const ALL = '{ forkProfiles { name systemPrompt systemPromptMode skills context prompt } }';
const PUT = 'mutation Put($input: ForkProfileInput!) { putForkProfile(input: $input) { name } }';
const DELETE = 'mutation Delete($name: String!) { deleteForkProfile(name: $name) }';
const MODES = ['PREPEND', 'APPEND', 'PRESET'];
const CONTEXTS = ['NONE', 'COMPRESS', 'INHERIT'];

/** @returns {import('./entries.js').Kind} */
function kind() {
  return {
    section: 'profiles',
    none: t('space.none'),
    add: t('space.add-profile'),
    blank: { name: '', systemPrompt: null, systemPromptMode: 'PREPEND', skills: null, context: null, prompt: null },
    nameOf: ({ name }) => name,
    aboutOf: ({ context }) => (context === null ? '' : t(`space.context.${context}`)),
    fields: (field, isNew) => html`
      ${isNew && html`<${Text} label=${t('space.name')} required ...${field('name')} />`}
      <${OwnText} label=${t('prompts.systemPrompt')} own=${t('space.sets-prompt')} hint=${t('space.template', { variable: '${name}' })}
        inherited=${t('space.prompt-inherited')} ...${field('systemPrompt')} />
      <div class="columns">
        <${Choice} label=${t('space.mode')} options=${MODES.map((name) => [name, t(`space.mode.${name}`)])}
          ...${field('systemPromptMode')} />
        <${Choice} label=${t('space.fork-context')} ...${field('context')}
          options=${[[null, t('space.context-open')], ...CONTEXTS.map((name) => [name, t(`space.context.${name}`)])]} />
      </div>
      <${SkillNames} ...${field('skills')} />
      <${OptionalText} label=${t('space.opening')} hint=${t('space.template', { variable: '${name}' })} rows=${3} ...${field('prompt')} />`,
    put: ({ skills, ...input }) => query(PUT, { input: { ...input, skills: skills && skills.filter(Boolean) } }),
    remove: (name) => query(DELETE, { name }),
  };
}

/** @param {{value: string[] | null, set: (value: string[] | null) => void}} props */
function SkillNames({ value, set }) {
  return html`
    <${OwnText} label=${t('settings.skills')} own=${t('space.sets-skills')} hint=${t('space.skills-hint')} rows=${3}
      inherited=${t('space.skills-inherited')} value=${value === null ? null : value.join('\n')}
      set=${(/** @type {string | null} */ text) => set(text === null ? null : text === '' ? [] : text.split('\n'))} />`;
}

export function Profiles() {
  const reading = useReading(ALL);
  return html`
    <p class="quiet">${t('space.profiles-about')}</p>
    <${Read} reading=${reading}>${(/** @type {any} */ { forkProfiles }) => html`
      <${Entries} kind=${kind()} entries=${forkProfiles} canEdit=${canAdmin.value} again=${reading.again} />`}
    <//>`;
}
