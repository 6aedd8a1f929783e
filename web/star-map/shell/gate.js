/** What stands before the page where the server asks for a key. */
import { hasKey, locked, setKey } from '../graphql.js';
import { effect, html, signal, useEffect, useRef, useState } from '../html.js';
import { close, viewer } from '../state.js';
import { t } from '../texts.js';
import { arrive } from './arrival.js';
import { focusMap } from './focus.js';

/** What was typed, so that a slip can be mended; not kept once it opened. */
const typed = signal('');
effect(() => {
  if (viewer.value) typed.value = '';
});

/** Forgets this tab's key and begins anew. */
export function forgetKey() {
  close();
  enter('');
}

/** @param {string} key */
async function enter(key) {
  setKey(key);
  await arrive();
  if (!locked.value) requestAnimationFrame(focusMap);
}

export function Gate() {
  const [shown, setShown] = useState(false);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  // The browser heeds autofocus once in a page only; this comes again with each key that is refused or forgotten.
  useEffect(() => field.current?.focus(), []);
  const refused = hasKey();
  const onSubmit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    enter(typed.value.trim());
  };
  return html`
    <main class="gate">
      <form class="card stack" onSubmit=${onSubmit}>
        <h1>${t('page.name')}</h1>
        <p>${t('gate.asks')}</p>
        <div class="field">
          <label for="gate-key">${t('gate.key')}</label>
          <span class="row tight">
            <input class="grow" id="gate-key" type=${shown ? 'text' : 'password'} required ref=${field} autocomplete="off"
              spellcheck=${false} aria-invalid=${refused} aria-describedby="gate-said" value=${typed.value}
              onInput=${(/** @type {any} */ event) => (typed.value = event.target.value)} />
            <button type="button" aria-pressed=${shown} onClick=${() => setShown(!shown)}>${t('gate.show')}</button>
          </span>
        </div>
        <p id="gate-said" class="error" role="alert">${refused && t('gate.refused')}</p>
        <button class="primary">${t('gate.enter')}</button>
        <p class="quiet">${t('gate.whence')} <code>stello-graph keys create --name NAME</code></p>
        <p class="quiet">${t('gate.kept')}</p>
      </form>
    </main>`;
}
