/** Asks how a fork is to be, makes it, opens it. */
import { Refusal, query } from '../graphql.js';
import { html, useEffect, useRef, useState } from '../html.js';
import { ask, isAsking } from '../shell/dialog.js';
import { reason, sayRefusal } from '../shell/toasts.js';
import { flyTo, open } from '../state.js';
import { t } from '../texts.js';
import { FORK, PROFILES } from './documents.js';
import { newId } from './ids.js';

const CONTEXTS = /** @type {const} */ (['INHERIT', 'COMPRESS', 'NONE']);
const LONGEST_LABEL = 200;

/** @typedef {{name: string, systemPrompt: string | null, context: string | null, prompt: string | null}} Profile */

/**
 * @param {{id: string, label: string, role: string}} source the session to fork from
 * @param {number | null} throughSeq up to which message; null: all of it
 */
export async function askFork(source, throughSeq) {
  if (isAsking()) return;
  const child = await ask(t('talk.forkOf', { label: source.label }), (close) => html`
    <${ForkForm} source=${source} throughSeq=${throughSeq} done=${close} />`);
  if (!child) return;
  open(child);
  flyTo(child);
}

/** @param {{source: {id: string, role: string}, throughSeq: number | null, done: (child?: string) => void}} props */
function ForkForm({ source, throughSeq, done }) {
  const contexts = contextsOf(source);
  const key = useRef(newId());
  const [profiles, setProfiles] = useState(/** @type {Profile[]} */ ([]));
  const [fields, setFields] = useState({ label: '', context: /** @type {string} */ (contexts[0]), profile: '', prompt: '' });
  const [vars, setVars] = useState(/** @type {Record<string, string>} */ ({}));
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    query(PROFILES).then((data) => setProfiles(data.forkProfiles)).catch(sayRefusal);
  }, []);
  const profile = profiles.find(({ name }) => name === fields.profile);
  const change = (/** @type {Partial<typeof fields>} */ changes) => {
    // Another fork than the one that was refused or lost.
    key.current = newId();
    setFields({ ...fields, ...changes });
  };
  const choose = (/** @type {string} */ name) => {
    const chosen = profiles.find((one) => one.name === name);
    const context = contexts.find((one) => one === chosen?.context) ?? fields.context;
    change({ profile: name, context });
  };
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setProblem('');
    try {
      const given = inputOf(fields, profile, vars);
      const through = fields.context === 'NONE' ? null : throughSeq;
      const input = { ...given, sourceSessionId: source.id, throughSeq: through, idempotencyKey: key.current };
      done((await query(FORK, { input })).fork.id);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setProblem(reason(error));
      setBusy(false);
    }
  };
  return html`
    <form class="stack fork-form" onSubmit=${submit}>
      <${Extent} source=${source} context=${fields.context} throughSeq=${throughSeq} />
      <label class="stack">${t('talk.label')}
        <input required autofocus maxlength=${LONGEST_LABEL} value=${fields.label} onInput=${typed((label) => change({ label }))} />
      </label>
      ${profiles.length ? html`
        <label class="stack">${t('talk.profile')}
          <select value=${fields.profile} onChange=${typed(choose)}>
            <option value="">${t('talk.noProfile')}</option>
            ${profiles.map(({ name }) => html`<option key=${name} value=${name}>${name}</option>`)}
          </select>
        </label>` : null}
      ${variablesOf(profile).map((name) => html`
        <label key=${name} class="stack">${name}
          <input required value=${vars[name] ?? ''} onInput=${typed((value) => {
            key.current = newId();
            setVars({ ...vars, [name]: value });
          })} />
        </label>`)}
      <fieldset class="stack">
        <legend>${t('talk.context')}</legend>
        ${contexts.map((context) => html`
          <label key=${context} class="fork-context">
            <input type="radio" name="context" value=${context} checked=${fields.context === context} onChange=${() => change({ context })} />
            <span><strong>${t(`talk.context.${context}`)}</strong> <span class="quiet">${t(`talk.contextLong.${context}`)}</span></span>
          </label>`)}
      </fieldset>
      <label class="stack">${t('talk.opening')}
        <textarea rows="2" value=${fields.prompt} placeholder=${profile?.prompt ?? ''} onInput=${typed((prompt) => change({ prompt }))}></textarea>
      </label>
      ${problem ? html`<p class="error" role="alert">${problem}</p>` : null}
      <div class="row end">
        <button type="button" onClick=${() => done()}>${t('dialog.cancel')}</button>
        <button type="submit" class="primary" aria-disabled=${isBusy}>${t(isBusy ? 'talk.forking' : 'talk.fork')}</button>
      </div>
    </form>`;
}

/** What a fork may know; a MAIN session gives no context away. @param {{role: string}} source */
function contextsOf({ role }) {
  return role === 'MAIN' ? CONTEXTS.filter((context) => context === 'NONE') : CONTEXTS;
}

/** How much of the source it is about. @param {{source: {role: string}, context: string, throughSeq: number | null}} props */
function Extent({ source, context, throughSeq }) {
  if (source.role === 'MAIN') return html`<p class="quiet">${t('talk.forkMain')}</p>`;
  if (context === 'NONE') return null;
  return html`<p class="quiet">${throughSeq === null ? t('talk.forkWhole') : t('talk.forkThrough', { seq: throughSeq })}</p>`;
}

/** @param {(value: string) => void} set @returns {(event: any) => void} */
function typed(set) {
  return (event) => set(event.currentTarget.value);
}

/**
 * @param {{label: string, context: string, profile: string, prompt: string}} fields
 * @param {Profile | undefined} profile
 * @param {Record<string, string>} vars
 */
function inputOf({ label, context, prompt }, profile, vars) {
  const given = Object.fromEntries(variablesOf(profile).map((name) => [name, vars[name] ?? '']));
  return {
    label: label.trim(),
    context,
    ...(prompt.trim() ? { prompt } : {}),
    ...(profile ? { profile: profile.name, vars: given } : {}),
  };
}

/** The names in a profile's templates; `$$` is a dollar. @param {Profile | undefined} profile @returns {string[]} */
function variablesOf(profile) {
  const text = `${profile?.systemPrompt ?? ''}\n${profile?.prompt ?? ''}`;
  const found = [...text.matchAll(/\$(?:\$|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g)];
  return [...new Set(found.map(([, braced, bare]) => braced ?? bare).filter(Boolean))];
}
