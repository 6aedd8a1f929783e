/** The map: the forest as a sky of stars, its list beside it, search, and the buttons on it. */
import { locked } from '../graphql.js';
import { html, useEffect, useSignal, useSignalEffect } from '../html.js';
import { reason } from '../shell/toasts.js';
import { openId } from '../state.js';
import { lasting } from '../storage.js';
import { t } from '../texts.js';
import { Canvas } from './canvas.js';
import { failure, loadMap, stopMap } from './load.js';
import { forest } from './map.js';
import { Search } from './search.js';
import { TreeList } from './tree-list.js';

const NARROW = '(max-width: 700px)';
const ZOOM = 1.5;

/** @typedef {import('../../vendor/signals.js').Signal<import('./stage.js').Stage | null>} StageSignal */

export function Sky() {
  const stage = useSignal(/** @type {import('./stage.js').Stage | null} */ (null));
  const isNarrow = matchMedia(NARROW).matches;
  const listed = useSignal(!isNarrow && lasting.get('list') !== 'hidden');
  const toggle = () => {
    listed.value = !listed.value;
    if (!matchMedia(NARROW).matches) lasting.set('list', listed.value ? null : 'hidden');
  };
  useSignalEffect(() => {
    if (!locked.value) loadMap();
  });
  useEffect(() => stopMap, []);
  // On a phone the list covers the map: what is opened from it takes its place.
  useSignalEffect(() => {
    if (openId.value !== null && matchMedia(NARROW).matches) listed.value = false;
  });
  return html`
    <section class="sky" aria-label=${t('sky.name')} aria-busy=${String(forest.value === null)} data-listed=${listed.value}>
      <div class="sky-tools">
        <button type="button" aria-label=${t('tree.toggle')} title=${t('tree.toggle')} aria-expanded=${String(listed.value)} onClick=${toggle}>${ICONS.list}</button>
        <${Search} />
      </div>
      ${listed.value && html`<div class="sky-side"><${TreeList} /></div>`}
      <div class="sky-map">
        <${Canvas} stage=${stage} />
        <${Waiting} />
        <${Buttons} stage=${stage} />
      </div>
    </section>`;
}

/** What is said as long as there is no map. */
function Waiting() {
  if (forest.value !== null) return null;
  const refusal = failure.value;
  if (refusal?.code === 'UNAUTHENTICATED') return null;
  return html`
    <div class="sky-waiting" role="status">
      <p>${refusal ? t('sky.failed', { reason: reason(refusal) }) : t('sky.loading')}</p>
      ${refusal && html`<button type="button" onClick=${() => loadMap()}>${t('sky.again')}</button>`}
    </div>`;
}

/** @param {{stage: StageSignal}} props */
function Buttons({ stage }) {
  const explained = useSignal(false);
  const button = (/** @type {string} */ name, /** @type {import('../html.js').Children} */ icon, /** @type {() => void} */ act, extra = {}) => html`
    <button type="button" aria-label=${name} title=${name} onClick=${act} ...${extra}>${icon}</button>`;
  return html`
    <div class="sky-buttons">
      ${explained.value && html`<${Legend} />`}
      ${button(t('sky.legend'), ICONS.legend, () => (explained.value = !explained.value), { 'aria-expanded': String(explained.value) })}
      ${button(t('sky.fit'), ICONS.fit, () => stage.value?.fit(true))}
      ${button(t('sky.closer'), ICONS.closer, () => stage.value?.camera.scaleBy(ZOOM))}
      ${button(t('sky.farther'), ICONS.farther, () => stage.value?.camera.scaleBy(1 / ZOOM))}
    </div>`;
}

/** What the colours and lines mean. */
function Legend() {
  return html`
    <ul class="sky-legend" aria-label=${t('sky.legend')}>
      <li><i class="dot star"></i>${t('sky.legend-star')}</li>
      <li><i class="dot main"></i>${t('sky.legend-main')}</li>
      <li><i class="dot archived"></i>${t('sky.legend-archived')}</li>
      <li><i class="dot hidden"></i>${t('sky.legend-hidden')}</li>
      <li><i class="stroke edge"></i>${t('sky.legend-edge')}</li>
      <li><i class="stroke ref"></i>${t('sky.legend-ref')}</li>
      <li><i class="stroke source"></i>${t('sky.legend-source')}</li>
    </ul>`;
}

/** @param {string} path */
function icon(path) {
  return html`<svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round"><path d=${path} /></svg>`;
}

const ICONS = {
  list: icon('M3 5h2M8 5h9M5 10h2M10 10h7M5 15h2M10 15h7'),
  legend: icon('M10 3a7 7 0 1 0 .01 0M10 9v5M10 6.2v.1'),
  fit: icon('M3 7V3h4M13 3h4v4M17 13v4h-4M7 17H3v-4'),
  closer: icon('M10 4v12M4 10h12'),
  farther: icon('M4 10h12'),
};
