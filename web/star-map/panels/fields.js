/** The inputs of forms: labelled, described, checked by the browser before anything is sent. */
import { html, useEffect, useId, useRef } from '../html.js';
import { say } from '../shell/toasts.js';
import { t } from '../texts.js';
import { Refused, useAction } from './action.js';

/** @typedef {{label: string, hint?: string, value: any, set: (value: any) => void}} FieldProps */

/**
 * A text, in one line or in `rows`. What else is given goes to the element.
 * @param {FieldProps & {rows?: number, [attribute: string]: any}} props
 */
export function Text({ label, hint, value, set, rows = 0, ...rest }) {
  const described = useId();
  const change = (/** @type {any} */ event) => set(event.currentTarget.value);
  return html`
    <div class="field">
      <label>
        <span>${label}</span>
        ${rows
          ? html`<textarea rows=${rows} value=${value} onInput=${change} aria-describedby=${described} ...${rest} />`
          : html`<input value=${value} onInput=${change} aria-describedby=${described} ...${rest} />`}
      </label>
      <small id=${described} class="quiet">${hint}</small>
    </div>`;
}

/**
 * A whole number; null where it is empty.
 * @param {FieldProps & {min: number, max?: number, [attribute: string]: any}} props
 */
export function Count({ value, set, ...rest }) {
  const change = (/** @type {string} */ text) => set(text === '' ? null : Number(text));
  return html`<${Text} type="number" step="1" value=${value ?? ''} set=${change} ...${rest} />`;
}

/**
 * A text that is null where it is empty.
 * @param {FieldProps & {[attribute: string]: any}} props
 */
export function OptionalText({ value, set, ...rest }) {
  return html`<${Text} value=${value ?? ''} set=${(/** @type {string} */ text) => set(text || null)} ...${rest} />`;
}

/**
 * A longer text that may be null: then another one stands in for it.
 * @param {FieldProps & {own: string, inherited: string, rows?: number}} props
 *   `own`: words for "has its own"; `inherited`: what is in force without
 */
export function OwnText({ label, hint, own, inherited, value, set, rows = 5 }) {
  const isOwn = value !== null;
  return html`
    <fieldset class="field">
      <legend>${label}</legend>
      <${Check} label=${own} value=${isOwn} set=${(/** @type {boolean} */ yes) => set(yes ? '' : null)} />
      ${isOwn
        ? html`<${Text} label=${label} hint=${hint} value=${value} set=${set} rows=${rows} />`
        : html`<p class="quiet clamped">${inherited}</p>`}
    </fieldset>`;
}

/** @param {FieldProps & {options: [value: any, text: string][]}} props null is an option as any other */
export function Choice({ label, hint, value, set, options }) {
  const described = useId();
  const change = (/** @type {any} */ event) => set(options[event.currentTarget.selectedIndex][0]);
  return html`
    <div class="field">
      <label>
        <span>${label}</span>
        <select onChange=${change} aria-describedby=${described}>
          ${options.map(([option, text]) => html`
            <option key=${text} selected=${option === value}>${text}</option>`)}
        </select>
      </label>
      <small id=${described} class="quiet">${hint}</small>
    </div>`;
}

/** @param {FieldProps} props */
export function Check({ label, hint, value, set }) {
  return html`
    <label class="check">
      <input type="checkbox" checked=${value} onChange=${(/** @type {any} */ event) => set(event.currentTarget.checked)} />
      <span>${label}${hint && html` <small class="quiet">${hint}</small>`}</span>
    </label>`;
}

/**
 * Which of several; the order of the options is kept.
 * @param {FieldProps & {options: [value: string, text: string, hint?: string][]}} props
 */
export function Checks({ label, hint, value, set, options }) {
  const toggled = (/** @type {string} */ name, /** @type {boolean} */ yes) =>
    options.map(([option]) => option).filter((option) => (option === name ? yes : value.includes(option)));
  return html`
    <fieldset class="field">
      <legend>${label}</legend>
      ${options.map(([option, text, about]) => html`
        <${Check} key=${option} label=${text} hint=${about} value=${value.includes(option)}
          set=${(/** @type {boolean} */ yes) => set(toggled(option, yes))} />`)}
      ${hint && html`<small class="quiet">${hint}</small>`}
    </fieldset>`;
}

/**
 * JSON as text; a form with one that is none is not sent.
 * @param {FieldProps & {rows?: number}} props `value` is the text
 */
export function Json({ label, hint, value, set, rows = 5 }) {
  const field = useRef(/** @type {HTMLDivElement | null} */ (null));
  const problem = jsonProblem(value);
  useEffect(() => field.current?.querySelector('textarea')?.setCustomValidity(problem), [problem]);
  return html`
    <div ref=${field}>
      <${Text} label=${label} hint=${problem || hint} value=${value} set=${set} rows=${rows} class="code"
        spellcheck=${false} aria-invalid=${problem !== ''} />
    </div>`;
}

/** @param {string} text @returns {string} what is wrong with it, '' for nothing */
function jsonProblem(text) {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return t('fields.not-json', { problem: /** @type {SyntaxError} */ (error).message });
  }
}

/**
 * A form over a draft: sends what changed. Its buttons stay when there is nothing to do, so that they keep the focus.
 * @param {{draft: import('./draft.js').Draft, save: () => Promise<unknown>, canSave?: boolean, label?: string,
 *   done?: () => void, children?: import('../html.js').Children}} props
 *   `save` ends when what is stored was read again, with false where it was left unsaved; `done` comes after, unless
 *   something was typed meanwhile; `canSave` false: all is shown and nothing can be changed
 */
export function Form({ draft, save, canSave = true, label = t('fields.save'), done = () => {}, children }) {
  const { isBusy, refusal, run } = useAction(async () => {
    if (!(await draft.send(save))) return;
    say(t('fields.saved'));
    if (draft.isEmpty()) done();
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (draft.isChanged) void run();
  };
  return html`
    <form class="stack" onSubmit=${submit}>
      <fieldset class="bare stack" disabled=${!canSave}>${children}</fieldset>
      ${canSave && html`
        <div class=${`row save-bar ${draft.isChanged ? 'changed' : ''}`}>
          <button class="primary" aria-busy=${isBusy} aria-disabled=${isBusy || !draft.isChanged}>${label}</button>
          <button type="button" aria-disabled=${!draft.isChanged} onClick=${() => draft.forget()}>${t('fields.undo')}</button>
          <${Refused} refusal=${refusal} />
        </div>`}
    </form>`;
}
