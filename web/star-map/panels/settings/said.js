/** What a session is told: its name, prompt, skills, tags, and what it sets for itself in place of the Space. */
import { html } from '../../html.js';
import { canWrite, open } from '../../state.js';
import { t } from '../../texts.js';
import { useDraft } from '../draft.js';
import { Check, Checks, Form, Json, OptionalText, OwnText, Text } from '../fields.js';

const UPDATE = 'mutation Update($id: ID!, $input: UpdateSessionInput!) { updateSession(id: $id, input: $input) { id } }';
const PROMPTS = ['consolidatePrompt', 'integratePrompt', 'compressPrompt', 'roleContext'];
const OVERRIDES = ['model', ...PROMPTS];

/** @param {any} session @returns {Record<string, any>} the fields of the form */
function fieldsOf({ label, systemPrompt, skills, tags, metadata, overrides }) {
  const fields = { label, systemPrompt, skills, tags: tags.join('\n'), metadata: JSON.stringify(metadata, null, 2) };
  return { ...fields, ...Object.fromEntries(OVERRIDES.map((name) => [name, overrides[name]])) };
}

/** @param {Record<string, any>} changes of the form @returns {Record<string, any>} an UpdateSessionInput */
function inputOf({ tags, metadata, ...changes }) {
  const own = Object.entries(changes);
  const overrides = own.filter(([name]) => OVERRIDES.includes(name));
  return {
    ...Object.fromEntries(own.filter(([name]) => !OVERRIDES.includes(name))),
    ...(tags !== undefined && { tags: linesOf(tags) }),
    ...(metadata !== undefined && { metadata: JSON.parse(metadata) }),
    ...(overrides.length && { overrides: Object.fromEntries(overrides) }),
  };
}

/** @param {string} text */
function linesOf(text) {
  return text.split('\n').map((line) => line.trim()).filter(Boolean);
}

/** @param {import('../settings.js').Part & {skills: any[], config: any}} props */
export function Said({ session, change, skills, config }) {
  const draft = useDraft(`settings:${session.id}`, fieldsOf(session), () => open(session.id, 'settings'));
  const field = (/** @type {string} */ name) => ({ value: draft.value(name), set: draft.setter(name) });
  return html`
    <section class="part" aria-label=${t('settings.said')}>
      <${Form} draft=${draft} canSave=${canWrite.value} save=${() => change(UPDATE, { input: inputOf(draft.changes) })}>
        <${Text} label=${t('settings.label')} maxlength="200" ...${field('label')} />
        <${OwnText} label=${t('settings.system-prompt')} own=${t('settings.own')} rows=${8}
          inherited=${inForce(config.systemPrompt)} ...${field('systemPrompt')} />
        <${Skills} skills=${skills} ...${field('skills')} />
        <${Text} label=${t('settings.tags')} hint=${t('settings.tags-hint')} rows=${2} ...${field('tags')} />
        <${Json} label=${t('settings.metadata')} hint=${t('settings.metadata-hint')} ...${field('metadata')} />
        <details>
          <summary>${t('settings.overrides')}</summary>
          <div class="stack">
            <${OptionalText} label=${t('settings.model')} hint=${t('settings.model-hint')} placeholder=${config.model}
              ...${field('model')} />
            ${PROMPTS.map((name) => html`
              <${OwnText} key=${name} label=${t(`prompts.${name}`)} own=${t('settings.own')}
                inherited=${inForce(config[name])} ...${field(name)} />`)}
          </div>
        </details>
      <//>
    </section>`;
}

/** @param {string | null} prompt the Space's @returns {string} */
function inForce(prompt) {
  return prompt === null ? t('settings.default-prompt') : t('settings.inherited', { prompt });
}

/** @param {{skills: any[], value: string[] | null, set: (value: string[] | null) => void}} props */
function Skills({ skills, value, set }) {
  const known = skills.map((/** @type {any} */ skill) => [skill.name, skill.name, skill.description]);
  const unknown = (value ?? []).filter((name) => !skills.some((skill) => skill.name === name));
  const options = [...known, ...unknown.map((name) => [name, name, t('settings.skill-unknown')])];
  return html`
    <fieldset class="field">
      <legend>${t('settings.skills')}</legend>
      <${Check} label=${t('settings.all-skills')} value=${value === null}
        set=${(/** @type {boolean} */ all) => set(all ? null : [])} />
      ${value !== null && html`
        <${Checks} label=${t('settings.these-skills')} hint=${t('settings.no-skills')} value=${value} set=${set}
          options=${options} />`}
    </fieldset>`;
}
