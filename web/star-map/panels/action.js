/** A button that asks the server for something: busy meanwhile, and what it refuses stands beside it. */
import { Refusal } from '../graphql.js';
import { html, useRef, useSignal } from '../html.js';
import { reason } from '../shell/toasts.js';

/**
 * @typedef {object} Action
 * @property {boolean} isBusy
 * @property {Refusal | null} refusal of the last run
 * @property {() => Promise<void>} run does nothing while it runs
 */

/**
 * @param {() => Promise<unknown>} act
 * @returns {Action}
 */
export function useAction(act) {
  const state = useSignal({ isBusy: false, refusal: /** @type {Refusal | null} */ (null) });
  const run = async () => {
    if (state.peek().isBusy) return;
    state.value = { isBusy: true, refusal: null };
    try {
      await act();
      state.value = { isBusy: false, refusal: null };
    } catch (error) {
      state.value = { isBusy: false, refusal: error instanceof Refusal ? error : null };
      if (!(error instanceof Refusal)) throw error;
    }
  };
  return { ...state.value, run };
}

/**
 * The busy button is not disabled, as that would drop the focus.
 * @param {{label: string, busy?: string, act: () => Promise<unknown>, kind?: string, name?: string}} props
 *   `name`: for screen readers, where the label alone says too little
 */
export function ActionButton({ label, busy = label, act, kind = '', name }) {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const { isBusy, refusal, run } = useAction(async () => {
    const home = button.current?.closest('.part, .panel');
    await act();
    requestAnimationFrame(() => home && keepFocus(/** @type {HTMLElement} */ (home)));
  });
  return html`
    <button ref=${button} type="button" class=${kind} aria-label=${isBusy ? undefined : name} aria-busy=${isBusy}
      aria-disabled=${isBusy} onClick=${run}>${isBusy ? busy : label}</button>
    <${Refused} refusal=${refusal} />`;
}

/**
 * What was asked for may have taken the button away, and the focus with it.
 * @param {HTMLElement} home where it stood
 */
function keepFocus(home) {
  if (document.activeElement !== document.body || !home.isConnected) return;
  home.tabIndex = -1;
  home.focus();
}

/** @param {{refusal: Refusal | null}} props */
export function Refused({ refusal }) {
  return refusal && html`<p class="error refused" role="alert">${reason(refusal)}</p>`;
}
