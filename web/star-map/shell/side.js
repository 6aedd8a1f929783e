/** What is open beside the map: a session with its tabs, or a page about the whole Space. */
import { html, useEffect, useRef } from '../html.js';
import { Events } from '../panels/events.js';
import { Memory } from '../panels/memory.js';
import { Preview } from '../panels/preview.js';
import { Settings } from '../panels/settings.js';
import { SpacePage } from '../panels/space.js';
import { canWrite, close, flyTo, open, openId, sidePage, tab } from '../state.js';
import { Talk } from '../talk/talk.js';
import { t } from '../texts.js';
import { Icon } from './icons.js';
import { opened } from './opened.js';
import { Handle } from './handle.js';
import { Tabs } from './tabs.js';

const PHONE = '(width <= 700px)';
const PANELS = { talk: Talk, memory: Memory, preview: Preview, settings: Settings };
const PAGES = { events: Events, space: SpacePage };

export function Side() {
  const id = openId.value;
  useFocusKept(id);
  if (sidePage.value) return html`<${Frame} name=${t(`side.${sidePage.value}`)}><${SpaceSide} /><//>`;
  if (id === null) return null;
  return html`<${Frame} name=${opened.value?.label ?? t('side.session')}><${SessionSide} key=${id} id=${id} /><//>`;
}

/**
 * A link to another session goes with what it stood in: then the tab that shows has the focus, or in the talk the
 * composer, which takes it itself.
 * @param {string | null} id
 */
function useFocusKept(id) {
  const before = useRef(id);
  useEffect(() => {
    const isAnother = before.current !== null && before.current !== id;
    before.current = id;
    if (!isAnother || document.activeElement !== document.body || (tab.peek() === 'talk' && canWrite.peek())) return;
    /** @type {HTMLElement | null} */ (document.querySelector('.side [role="tab"][aria-selected="true"]'))?.focus();
  }, [id]);
}

/** @param {{name: string, children: import('../html.js').Children}} props */
function Frame({ name, children }) {
  return html`
    <${Handle} />
    <aside class="side" aria-label=${name}>${children}</aside>`;
}

function SpaceSide() {
  const page = /** @type {keyof typeof PAGES} */ (sidePage.value);
  return html`
    <header class="side-head"><${Back} /><h2 class="grow" tabindex="-1">${t(`side.${page}`)}</h2><${Close} /></header>
    <div class="side-body"><${PAGES[page]} /></div>`;
}

/** @param {{id: string}} props */
function SessionSide({ id }) {
  const names = Object.keys(PANELS).map((name) => ({ id: name, text: t(`side.${name}`) }));
  return html`
    <header class="side-head">
      <${Back} />
      <${Title} />
      <button type="button" class="plain icon-button" aria-label=${t('side.show')} title=${t('side.show')} onClick=${() => show(id)}><${Icon} name="target" /></button>
      <${Close} />
    </header>
    <${Tabs} label=${t('side.tabs')} names=${names} chosen=${tab.value}
      choose=${(/** @type {import('../state.js').Tab} */ name) => (tab.value = name)}>
      <${PANELS[tab.value]} id=${id} />
    <//>`;
}

/** Flies to the star; on phones the map must come forth first. @param {string} id */
function show(id) {
  if (matchMedia(PHONE).matches) close();
  flyTo(id);
}

function Title() {
  const session = opened.value;
  if (!session) return html`<div class="grow quiet" aria-busy="true">${t('page.loading')}</div>`;
  return html`
    <div class="grow">
      ${session.ancestors.length > 0 && html`<${Path} ancestors=${session.ancestors} />`}
      <div class="title-row">
        <h2 tabindex="-1">${session.label}</h2>
        ${session.role === 'MAIN' && html`<span class="badge main" title=${t('side.main-means')}>${t('side.main')}</span>`}
        ${session.status === 'ARCHIVED' && html`<span class="badge">${t('side.archived')}</span>`}
      </div>
    </div>`;
}

/** @param {{ancestors: {id: string, label: string}[]}} props root first */
function Path({ ancestors }) {
  const go = (/** @type {string} */ id) => {
    open(id, tab.value);
    flyTo(id);
  };
  return html`
    <nav aria-label=${t('side.path')}>
      <ol class="path">
        ${ancestors.map(({ id, label }) => html`
          <li key=${id}><button type="button" class="link" onClick=${() => go(id)}>${label}</button></li>`)}
      </ol>
    </nav>`;
}

function Back() {
  return html`<button type="button" class="plain icon-button phone-only" aria-label=${t('side.back')} onClick=${close}><${Icon} name="back" /></button>`;
}

function Close() {
  return html`<button type="button" class="plain icon-button desk-only" aria-label=${t('side.close')} title=${`${t('side.close')} (Esc)`} onClick=${close}><${Icon} name="close" /></button>`;
}
