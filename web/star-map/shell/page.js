/** The whole page: header, map, and what is open beside it; or what stands before it. */
import { Sky } from '../forest/sky.js';
import { locked } from '../graphql.js';
import { effect, html, useEffect, useRef } from '../html.js';
import { SpacePage } from '../panels/space.js';
import { openId, sessionCount, sidePage, viewer } from '../state.js';
import { t } from '../texts.js';
import { arrive, failure } from './arrival.js';
import { Connection } from './connection.js';
import { Dialogs } from './dialog.js';
import { FirstRun } from './first-run.js';
import { focusMap, keepFocus } from './focus.js';
import { Gate } from './gate.js';
import { Header } from './header.js';
import { DropPlace } from './import.js';
import { listenToKeys } from './keys.js';
import { opened } from './opened.js';
import { Side } from './side.js';
import { reason, Toasts } from './toasts.js';

effect(() => {
  const name = sidePage.value ? t(`side.${sidePage.value}`) : opened.value?.label;
  document.title = name ? `${name} · ${t('page.name')}` : t('page.name');
});

export function Page() {
  useEffect(() => void arrive(), []);
  useEffect(listenToKeys, []);
  return html`
    <${Content} />
    <${Dialogs} />
    <${Toasts} />`;
}

function Content() {
  if (locked.value) return html`<${Gate} />`;
  if (failure.value) return html`<${Failed} why=${failure.value} />`;
  if (!viewer.value) return html`<main class="gate" aria-busy="true"><p class="quiet">${t('page.loading')}</p></main>`;
  return viewer.value.spaceId === null ? html`<${Operator} />` : html`<${Map} />`;
}

function Map() {
  const isOpen = openId.value !== null || sidePage.value !== null;
  useFocusKept(isOpen);
  return html`
    <div class=${`frame${isOpen ? ' open' : ''}`}>
      <${Header} />
      <${Connection} />
      <main class="map" tabindex="-1">
        <${Sky} />
        ${sessionCount.value === 0 && html`<${FirstRun} />`}
      </main>
      <${Side} />
      <${DropPlace} />
    </div>`;
}

/** What held the focus may go with what is closed: then the map has it. @param {boolean} isOpen */
function useFocusKept(isOpen) {
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body) focusMap();
    wasOpen.current = isOpen;
  }, [isOpen]);
}

/** Keys of the scope OPERATOR make and delete Spaces, and see into none. */
function Operator() {
  return html`
    <div class="frame">
      <${Header} />
      <main class="operator stack">
        <p class="notice">${t('page.operator')}</p>
        <${SpacePage} />
      </main>
    </div>`;
}

/** @param {{why: import('../graphql.js').Refusal}} props */
function Failed({ why }) {
  return html`
    <main class="gate">
      <div class="card stack" role="alert">
        <h1>${t('page.name')}</h1>
        <p class="error">${reason(why)}</p>
        <button type="button" class="primary" onClick=${() => arrive().then(keepFocus)}>${t('page.again')}</button>
      </div>
    </main>`;
}
