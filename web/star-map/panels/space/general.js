/** The Space's settings. */
import { query } from '../../graphql.js';
import { html } from '../../html.js';
import { canAdmin, space as shownSpace } from '../../state.js';
import { t } from '../../texts.js';
import { useDraft } from '../draft.js';
import { Check, Checks, Choice, Count, Form, OptionalText, OwnText, Text } from '../fields.js';
import { Read, useReading } from '../read.js';
import { Usage } from '../usage.js';
import { openSection } from './section.js';

const FIELDS = `id name sessionCount createdAt
  usage { inputTokens outputTokens cacheReadTokens cacheWriteTokens llmCalls }
  config {
    strategy systemPrompt model consolidateModel integrateModel compressModel sharedMemory maxContextTokens
    maxOutputTokens maxToolRounds consolidatePrompt integratePrompt compressPrompt roleContext consolidateOn
    integrateOn everyNTurns splitGuard { forTools forApi minTurns cooldownTurns }
  }`;
const SPACE = `{ space { ${FIELDS} } }`;
const CONFIGURE = `mutation Configure($input: SpaceConfigInput!) { configureSpace(input: $input) { ${FIELDS} } }`;
const GUARD = ['forTools', 'forApi', 'minTurns', 'cooldownTurns'];
const STRATEGIES = ['TREE', 'FLAT', 'HIERARCHICAL'];
const TRIGGERS = ['ON_SWITCH', 'ON_LEAVE', 'EVERY_N_TURNS', 'ON_ARCHIVE'];
const MODELS = ['consolidateModel', 'integrateModel', 'compressModel'];
const PROMPTS = ['systemPrompt', 'consolidatePrompt', 'integratePrompt', 'compressPrompt', 'roleContext'];

/** @param {Record<string, any>} changes of the form @returns {Record<string, any>} a SpaceConfigInput */
function inputOf(changes) {
  const guard = Object.entries(changes).filter(([name]) => GUARD.includes(name));
  const own = Object.entries(changes).filter(([name]) => !GUARD.includes(name));
  return { ...Object.fromEntries(own), ...(guard.length && { splitGuard: Object.fromEntries(guard) }) };
}

export function General() {
  const reading = useReading(SPACE);
  return html`
    <${Read} reading=${reading}>${(/** @type {any} */ { space }) => html`
      <${Configuration} space=${space} again=${reading.again} />
      <${Usage} usage=${space.usage} counts=${[[t('space.sessions'), space.sessionCount]]}
        createdAt=${space.createdAt} />`}
    <//>`;
}

/** @param {{space: any, again: () => Promise<void>}} props */
function Configuration({ space, again }) {
  const { splitGuard, ...config } = space.config;
  const draft = useDraft('space', { name: space.name, ...config, ...splitGuard }, () => openSection('general'));
  const field = (/** @type {string} */ name) => ({ value: draft.value(name), set: draft.setter(name) });
  const save = async () => {
    const { configureSpace } = await query(CONFIGURE, { input: inputOf(draft.changes) });
    shownSpace.value = { ...shownSpace.value, ...configureSpace };
    await again();
  };
  return html`
    ${!canAdmin.value && html`<p class="notice">${t('space.admin-only')}</p>`}
    <${Form} draft=${draft} save=${save} canSave=${canAdmin.value}>
      <fieldset class="group">
        <legend>${t('space.section.general')}</legend>
        <${Text} label=${t('space.name')} maxlength="200" ...${field('name')} />
        <${Choice} label=${t('space.strategy')} hint=${t('space.strategy-hint')} ...${field('strategy')}
          options=${[[null, t('space.default-strategy')], ...STRATEGIES.map((name) => [name, t(`space.strategy.${name}`)])]} />
        <${Check} label=${t('space.share')} hint=${t('space.share-hint')} ...${field('sharedMemory')} />
      </fieldset>
      <${Models} field=${field} />
      <${Limits} field=${field} />
      <fieldset class="group">
        <legend>${t('space.prompts')}</legend>
        ${PROMPTS.map((name) => html`
          <${OwnText} key=${name} label=${t(`prompts.${name}`)} own=${t('settings.own')}
            inherited=${t(name === 'systemPrompt' ? 'space.no-prompt' : 'settings.default-prompt')} ...${field(name)} />`)}
      </fieldset>
      <${Background} field=${field} />
      <${Guard} field=${field} />
    <//>`;
}

/** @typedef {{field: (name: string) => {value: any, set: (value: any) => void}}} Group */

/** @param {Group} props */
function Models({ field }) {
  return html`
    <fieldset class="group">
      <legend>${t('space.models')}</legend>
      <div class="columns">
        <${OptionalText} label=${t('settings.model')} hint=${t('space.model-hint')} ...${field('model')} />
        ${MODELS.map((name) => html`
          <${OptionalText} key=${name} label=${t(`space.${name}`)} hint=${t('space.models-hint')} ...${field(name)} />`)}
      </div>
    </fieldset>`;
}

/** @param {Group} props */
function Limits({ field }) {
  return html`
    <fieldset class="group">
      <legend>${t('space.limits')}</legend>
      <div class="columns">
        <${Count} label=${t('space.context')} hint=${t('space.context-hint')} min=${1_000} max=${100_000_000} ...${field('maxContextTokens')} />
        <${Count} label=${t('space.output')} min=${1} max=${10_000_000} required ...${field('maxOutputTokens')} />
        <${Count} label=${t('space.rounds')} min=${0} max=${100} required ...${field('maxToolRounds')} />
      </div>
    </fieldset>`;
}

/** @param {Group} props */
function Background({ field }) {
  const options = TRIGGERS.map((name) => [name, t(`space.trigger.${name}`)]);
  return html`
    <fieldset class="group">
      <legend>${t('space.background')}</legend>
      <div class="columns">
        <${Checks} label=${t('space.consolidate-on')} options=${options} ...${field('consolidateOn')} />
        <${Checks} label=${t('space.integrate-on')} hint=${t('space.integrate-hint')} ...${field('integrateOn')}
          options=${[...options, ['AFTER_CONSOLIDATE', t('space.trigger.AFTER_CONSOLIDATE')]]} />
      </div>
      <${Count} label=${t('space.every')} min=${1} max=${1_000_000} required ...${field('everyNTurns')} />
    </fieldset>`;
}

/** @param {Group} props */
function Guard({ field }) {
  return html`
    <fieldset class="group">
      <legend>${t('space.guard')}</legend>
      <p class="quiet">${t('space.guard-about')}</p>
      <${Check} label=${t('space.for-tools')} ...${field('forTools')} />
      <${Check} label=${t('space.for-api')} ...${field('forApi')} />
      <div class="columns">
        <${Count} label=${t('space.min-turns')} min=${0} max=${1_000_000} required ...${field('minTurns')} />
        <${Count} label=${t('space.cooldown')} min=${0} max=${1_000_000} required ...${field('cooldownTurns')} />
      </div>
    </fieldset>`;
}
