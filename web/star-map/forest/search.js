/** The search box of the map: labels, digests and messages. Enter or a click flies to the star and opens it. */
import { query, Refusal } from '../graphql.js';
import { html, useEffect, useRef, useSignal } from '../html.js';
import { isAsking } from '../shell/dialog.js';
import { reason } from '../shell/toasts.js';
import { flyTo, open } from '../state.js';
import { t } from '../texts.js';

const WAIT_MS = 220;
const SEARCH = `query Search($query: String!) {
  search(query: $query, first: 20) { scope snippet session { id label } message { seq } }
}`;

/** @typedef {{scope: 'LABEL' | 'MEMORY' | 'MESSAGE', snippet: string, session: {id: string, label: string} | null, message: {seq: number} | null}} Hit */
/** @typedef {{hits: Hit[], trouble: string, asked: string}} Found */

const NOTHING = { hits: [], trouble: '', asked: '' };

export function Search() {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const text = useSignal('');
  const found = useSignal(/** @type {Found} */ (NOTHING));
  const marked = useSignal(0);
  // Enter came before the hits of what is written: the first of them is meant.
  const entered = useRef(false);
  const empty = () => {
    text.value = '';
    found.value = NOTHING;
  };
  const choose = (/** @type {Hit} */ { session }) => {
    if (!session) return;
    empty();
    open(session.id);
    flyTo(session.id);
  };
  useEffect(() => ask(text.value, (result) => {
    found.value = result;
    marked.value = 0;
    if (entered.current && result.hits.length > 0) choose(result.hits[0]);
    entered.current = false;
  }), [text.value]);
  useEffect(() => onSlash(() => input.current?.focus()), []);
  const { hits, trouble, asked } = found.value;
  const isOpen = text.value.trim() !== '' && asked !== '';
  const write = (/** @type {any} */ event) => {
    text.value = event.target.value;
    entered.current = false;
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    // Safari tells of the key that ends a composition by 229 only.
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === 'Escape' && text.value !== '') empty();
    else if (event.key === 'ArrowDown' && isOpen) marked.value = Math.min(hits.length - 1, marked.value + 1);
    else if (event.key === 'ArrowUp' && isOpen) marked.value = Math.max(0, marked.value - 1);
    else if (event.key === 'Enter' && searched(text.value) !== asked) entered.current = true;
    else if (event.key === 'Enter' && hits[marked.value]) choose(hits[marked.value]);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`
    <div class="search" role="search">
      <input ref=${input} type="search" role="combobox" aria-label=${t('search.name')} placeholder=${t('search.hint')}
        aria-expanded=${String(isOpen)} aria-controls="search-hits" aria-autocomplete="list" autocomplete="off" maxlength="1000"
        aria-activedescendant=${isOpen && hits.length > 0 ? `hit-${marked.value}` : undefined} aria-keyshortcuts="/"
        value=${text.value} onInput=${write} onKeyDown=${press} />
      <p class="unseen" aria-live="polite">${isOpen && (trouble || t('search.count', { n: hits.length }))}</p>
      ${isOpen && (hits.length === 0) && html`<p class="search-none quiet">${trouble || t('search.none')}</p>`}
      <ul id="search-hits" role="listbox" aria-label=${t('search.hits')} hidden=${!isOpen || hits.length === 0}>
        ${isOpen && hits.map((hit, place) => html`
          <${HitLine} key=${place} hit=${hit} place=${place} marked=${place === marked.value} choose=${choose} />`)}
      </ul>
    </div>`;
}

/** @param {{hit: Hit, place: number, marked: boolean, choose: (hit: Hit) => void}} props */
function HitLine({ hit, place, marked, choose }) {
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (marked) element.current?.scrollIntoView({ block: 'nearest' });
  }, [marked]);
  const scopes = { LABEL: t('search.label'), MEMORY: t('search.memory'), MESSAGE: t('search.message') };
  return html`
    <li ref=${element} id=${`hit-${place}`} role="option" aria-selected=${String(marked)} data-id=${hit.session?.id}
      onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => choose(hit)}>
      <span class="row"><strong class="grow">${hit.session?.label ?? t('search.gone')}</strong><span class="quiet">${scopes[hit.scope]}</span></span>
      ${hit.scope !== 'LABEL' && html`<span class="snippet quiet">${hit.snippet}</span>`}
    </li>`;
}

/**
 * Asks a moment after the last letter.
 * @param {string} text
 * @param {(found: Found) => void} tell
 * @returns {() => void} asks no more
 */
function ask(text, tell) {
  const wanted = searched(text);
  if (wanted === '') {
    tell(NOTHING);
    return () => {};
  }
  const abort = new AbortController();
  const timer = setTimeout(async () => {
    try {
      const { search } = await query(SEARCH, { query: wanted }, { signal: abort.signal });
      tell({ hits: search, trouble: '', asked: wanted });
    } catch (error) {
      if (abort.signal.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      tell({ hits: [], trouble: reason(error), asked: wanted });
    }
  }, WAIT_MS);
  return () => {
    clearTimeout(timer);
    abort.abort();
  };
}

/** @param {string} text @returns {string} what to ask: the word that is being written is taken for a beginning */
export function searched(text) {
  const trimmed = text.trim();
  return /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{N}]$/u.test(trimmed) && trimmed === text.trimStart() ? `${trimmed}*` : trimmed;
}

/** @param {() => void} focus @returns {() => void} stops it */
function onSlash(focus) {
  const press = (/** @type {KeyboardEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isAsking()) return;
    if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
    event.preventDefault();
    focus();
  };
  document.addEventListener('keydown', press);
  return () => document.removeEventListener('keydown', press);
}
