/** What stands over an empty map: how to begin. */
import { query } from '../graphql.js';
import { html, useEffect, useState } from '../html.js';
import { canAdmin, canWrite } from '../state.js';
import { t } from '../texts.js';
import { keepFocus } from './focus.js';
import { Icon } from './icons.js';
import { chooseFiles } from './import.js';
import { newSession } from './new-session.js';
import { say, sayRefusal } from './toasts.js';

const LOAD_DEMO = 'mutation LoadDemo { loadDemo }';

export function FirstRun() {
  const [loading, setLoading] = useState(false);
  useEffect(() => keepFocus, []);
  const loadDemo = async () => {
    if (loading) return;
    setLoading(true);
    try {
      const { loadDemo: n } = await query(LOAD_DEMO);
      say(t('first.loaded', { n }));
      // The map hears of them by itself, and takes the place of this.
    } catch (error) {
      setLoading(false);
      sayRefusal(error);
    }
  };
  if (!canWrite.value) return html`<div class="first-run"><p class="quiet">${t('first.nothing')}</p></div>`;
  return html`
    <section class="first-run" aria-labelledby="first-run">
      <h2 id="first-run">${t('first.title')}</h2>
      <p class="quiet">${t('first.what')}</p>
      <div class="ways">
        <${Way} icon="plus" name="create" act=${newSession} />
        ${canAdmin.value && html`<${Way} icon="stars" name="demo" act=${loadDemo} busy=${loading} />`}
        <${Way} icon="import" name="import" act=${chooseFiles} />
      </div>
    </section>`;
}

/** @param {{icon: string, name: string, act: () => void, busy?: boolean}} props */
function Way({ icon, name, act, busy = false }) {
  return html`
    <button type="button" class="way" aria-disabled=${busy} aria-busy=${busy} onClick=${act}>
      <${Icon} name=${icon} />
      <strong>${t(`first.${name}`)}</strong>
      <span class="quiet">${busy ? t('page.loading') : t(`first.${name}-means`)}</span>
    </button>`;
}
