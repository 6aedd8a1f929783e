/** The bar at the top: where one is, what one can do; on phones a menu gathers most of it. */
import { html } from '../html.js';
import { canWrite, close, offlineModel, openSide, showArchived, sidePage, space, viewer } from '../state.js';
import { t } from '../texts.js';
import { ask } from './dialog.js';
import { showHelp } from './help.js';
import { Icon } from './icons.js';
import { Menu } from './menu.js';
import { newSession } from './new-session.js';

export function Header() {
  return html`
    <header class="bar">
      <h1>${t('page.name')}</h1>
      ${space.value && html`<span class="space-name" title=${space.value.name}>${space.value.name}</span>`}
      <div class="grow"></div>
      <${Marks} />
      ${space.value && html`<${Actions} />`}
      <${Menu} />
    </header>`;
}

function Marks() {
  return html`
    ${offlineModel.value && html`<${Mark} name="offline" />`}
    ${viewer.value?.scope === 'READ' && html`<${Mark} name="read" />`}`;
}

/** Two words that hold for the whole page, and what they mean. @param {{name: string}} props */
function Mark({ name }) {
  const title = t(`header.${name}`);
  const means = t(`header.${name}-means`);
  return html`<button type="button" class=${`mark ${name}`} title=${means} onClick=${() => ask(title, () => html`<p>${means}</p>`)}>${title}</button>`;
}

function Actions() {
  return html`
    ${canWrite.value && html`
      <button type="button" class="primary" onClick=${newSession} aria-label=${t('header.new')} title=${`${t('header.new')} (N)`}>
        <${Icon} name="plus" /> <span class="wide-only">${t('header.new')}</span>
      </button>`}
    <div class="actions desk-only"><${Views} /><${Help} /></div>`;
}

/** What shows on the map and beside it; in the bar, on phones in the menu. */
export function Views() {
  const sides = /** @type {const} */ (['events', 'space']);
  return html`
    <button type="button" class="plain" aria-pressed=${showArchived.value} title=${t('header.archived')} onClick=${() => (showArchived.value = !showArchived.value)}>
      <${Icon} name="archive" /> <span>${t('header.archived')}</span>
    </button>
    ${sides.map((page) => html`
      <button type="button" class="plain" key=${page} aria-pressed=${sidePage.value === page} onClick=${() => (sidePage.value === page ? close() : openSide(page))}>
        <${Icon} name=${page} /> <span>${t(`side.${page}`)}</span>
      </button>`)}`;
}

/** The keys that the page knows. */
export function Help() {
  return html`
    <button type="button" class="plain" title=${`${t('help.title')} (?)`} onClick=${showHelp}>
      <${Icon} name="help" /> <span>${t('help.title')}</span>
    </button>`;
}
