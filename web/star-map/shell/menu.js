/** The menu at the end of the bar: how the page looks, and what is seldom wanted. */
import { hasKey } from '../graphql.js';
import { html, useId, useRef } from '../html.js';
import { canWrite, space, theme } from '../state.js';
import { chooseLanguage, language, t } from '../texts.js';
import { forgetKey } from './gate.js';
import { Help, Views } from './header.js';
import { Icon } from './icons.js';
import { chooseFiles } from './import.js';

const THEMES = /** @type {const} */ (['auto', 'light', 'dark']);
const LANGUAGES = { en: 'English', zh: '中文' };

export function Menu() {
  const id = useId();
  const panel = useRef(/** @type {HTMLElement | null} */ (null));
  // Before what was chosen is done: a dialog is to give the focus back to the menu's button, not to what is hidden.
  const hide = (/** @type {MouseEvent} */ event) => {
    if (event.target instanceof Element && event.target.closest('[data-leaves]')) panel.current?.hidePopover();
  };
  return html`
    <button type="button" class="plain icon-button" popovertarget=${id} aria-label=${t('header.menu')} title=${t('header.menu')}><${Icon} name="menu" /></button>
    <div class="menu" id=${id} popover ref=${panel} onClickCapture=${hide}>
      ${space.value && html`<div class="group phone-only" data-leaves><${Views} /><${Help} /></div>`}
      <${Choice} name="theme" label=${t('header.theme')} chosen=${theme.value}
        options=${THEMES.map((value) => ({ value, text: t(`header.theme-${value}`) }))}
        choose=${(/** @type {import('../state.js').Theme} */ value) => (theme.value = value)} />
      <${Choice} name="language" label=${t('header.language')} chosen=${language.value}
        options=${Object.entries(LANGUAGES).map(([value, text]) => ({ value, text }))} choose=${chooseLanguage} />
      <div class="group">
        ${space.value && canWrite.value && html`<button type="button" class="plain" data-leaves onClick=${chooseFiles}><${Icon} name="import" /> <span>${t('import.title')}</span></button>`}
        <a class="item" href="graphql" target="_blank" rel="noopener"><${Icon} name="code" /> <span>GraphiQL</span></a>
        ${hasKey() && html`<button type="button" class="plain" data-leaves onClick=${forgetKey}><${Icon} name="key" /> <span>${t('header.forget')}</span></button>`}
      </div>
    </div>`;
}

/** @param {{name: string, label: string, chosen: string, options: {value: string, text: string}[], choose: (value: string) => void}} props */
function Choice({ name, label, chosen, options, choose }) {
  return html`
    <fieldset class="group choice">
      <legend>${label}</legend>
      ${options.map(({ value, text }) => html`
        <label key=${value} class=${value === chosen ? 'chosen' : ''}>
          <input type="radio" name=${name} value=${value} checked=${value === chosen} onChange=${() => choose(value)} />
          <span lang=${name === 'language' ? value : undefined}>${text}</span>
        </label>`)}
    </fieldset>`;
}
