/** What stands before the page where the server asks for a key. */
import { hasKey, setKey } from '../graphql.js';
import { html, useState } from '../html.js';
import { close } from '../state.js';
import { t } from '../texts.js';
import { arrive } from './arrival.js';

/** Forgets this tab's key and begins anew. */
export function forgetKey() {
  close();
  enter('');
}

/** @param {string} key */
function enter(key) {
  setKey(key);
  arrive();
}

export function Gate() {
  const [shown, setShown] = useState(false);
  const refused = hasKey();
  const onSubmit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.target)).get('key');
    enter(String(given).trim());
  };
  return html`
    <main class="gate">
      <form class="card stack" onSubmit=${onSubmit}>
        <h1>${t('page.name')}</h1>
        <p>${t('gate.asks')}</p>
        <label class="field">${t('gate.key')}
          <span class="row tight">
            <input class="grow" name="key" type=${shown ? 'text' : 'password'} required autofocus autocomplete="off"
              spellcheck="false" aria-invalid=${refused} aria-describedby="gate-said" />
            <button type="button" aria-pressed=${shown} onClick=${() => setShown(!shown)}>${t('gate.show')}</button>
          </span>
        </label>
        <p id="gate-said" class="error" role="alert">${refused && t('gate.refused')}</p>
        <button class="primary">${t('gate.enter')}</button>
        <p class="quiet">${t('gate.whence')} <code>stello-graph keys create --name NAME</code></p>
        <p class="quiet">${t('gate.kept')}</p>
      </form>
    </main>`;
}
