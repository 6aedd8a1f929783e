/** The forest as a list beside the canvas: the same stars, for keyboards and screen readers. Only what is in sight is drawn. */
import { batch, computed, html, signal, useEffect, useLayoutEffect, useRef, useSignal } from '../html.js';
import { flyTo, open, openId } from '../state.js';
import { number, t } from '../texts.js';
import { factsOf } from './card.js';
import { ARCHIVED, MAIN, NONE, SKY } from './forest.js';
import { reading, readChildren } from './load.js';
import { forest, isUnfolded, select, selectedId, selectedRow, setUnfolded, shown, version } from './map.js';
import { hasBelow, linesOf } from './rows.js';

const LINE_PX = 34;
const MORE_AROUND = 8;
const TYPED_MS = 700;

const NO_LINES = { lines: new Int32Array(0), place: new Int32Array(0), siblings: new Int32Array(0) };
const lines = computed(() => {
  version.value;
  return forest.value ? linesOf(forest.value, shown.value, isUnfolded) : NO_LINES;
});

/** The line `~row` that the keys came to, for as long as no other star is selected. */
const more = signal({ line: 0, selectedId: selectedId.value });
/** The line that keys act on: a row, or `~row` for those of its children that are not here; null in an empty list. */
const current = computed(() => {
  const all = lines.value.lines;
  const { line, selectedId: then } = more.value;
  if (line < 0 && then === selectedId.value && all.includes(line)) return line;
  const row = selectedRow();
  return row !== NONE && all.includes(row) ? row : (all[Math.min(stood, all.length - 1)] ?? null);
});
/** Where the current line stood: where it goes, the one that comes into its place is current. */
let stood = 0;
let typed = { text: '', at: 0 };

export function TreeList() {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const sight = useSignal({ top: 0, height: 600 });
  const { lines: all } = lines.value;
  const at = current.value === null ? -1 : all.indexOf(current.value);
  const first = Math.max(0, Math.floor(sight.value.top / LINE_PX) - MORE_AROUND);
  const last = Math.min(all.length, Math.ceil((sight.value.top + sight.value.height) / LINE_PX) + MORE_AROUND);
  const drawn = Array.from({ length: Math.max(0, last - first) }, (_, step) => first + step);
  // The current line is always there, so that the focus is not lost by scrolling.
  if (at >= 0 && (at < first || at >= last)) drawn.push(at);
  // A line that is deleted takes the focus with it.
  const hadFocus = hasFocus(box.current);
  useLayoutEffect(() => {
    stood = Math.max(0, at);
    reveal(box.current, at);
  }, [at]);
  useLayoutEffect(() => {
    if (hadFocus && !hasFocus(box.current)) focusCurrent(/** @type {HTMLElement} */ (box.current));
  });
  useEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const look = () => (sight.value = { top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  return html`
    <div ref=${box} class="tree" role="tree" aria-label=${t('tree.name')} onKeyDown=${(/** @type {KeyboardEvent} */ event) => press(event, box.current)}>
      <div role="presentation" style=${`height:${all.length * LINE_PX}px`}>
        ${drawn.map((place) => html`<${Line} key=${all[place]} line=${all[place]} top=${place * LINE_PX} />`)}
      </div>
    </div>`;
}

/** @param {HTMLElement | null} box @param {number} at the current line: scrolled into sight, and focused where the list has the focus */
function reveal(box, at) {
  if (!box || at < 0) return;
  const top = at * LINE_PX;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + LINE_PX > box.scrollTop + box.clientHeight) box.scrollTop = top + LINE_PX - box.clientHeight;
  if (hasFocus(box)) focusCurrent(box);
}

/** @param {HTMLElement | null} box */
function hasFocus(box) {
  return box !== null && box.contains(document.activeElement);
}

/** @param {HTMLElement} box */
function focusCurrent(box) {
  /** @type {HTMLElement | null} */ (box.querySelector('[tabindex="0"]'))?.focus({ preventScroll: true });
}

/** @param {{line: number, top: number}} props */
function Line({ line, top }) {
  return line < 0 ? html`<${More} row=${~line} top=${top} />` : html`<${Star} row=${line} top=${top} />`;
}

/** @param {{row: number, top: number}} props */
function Star({ row, top }) {
  const stars = /** @type {import('./forest.js').Forest} */ (forest.value);
  const { place, siblings } = lines.value;
  const id = stars.id[row];
  const unfolds = hasBelow(stars, shown.value, row);
  const open = unfolds && isUnfolded(row);
  const kind = stars.status[row] === ARCHIVED ? 'archived' : stars.role[row] === MAIN ? 'main' : 'star';
  const depth = stars.depth[row];
  return html`
    <div class="tree-line" role="treeitem" data-id=${id} data-kind=${kind} tabindex=${row === current.value ? 0 : -1}
      aria-level=${depth + 1} aria-posinset=${place[row]} aria-setsize=${siblings[stars.parent[row]] + stars.hidden(stars.parent[row])}
      aria-expanded=${unfolds ? String(open) : undefined} aria-selected=${String(row === selectedRow())}
      aria-current=${id === openId.value ? 'true' : undefined} aria-busy=${reading.value.has(id) ? 'true' : undefined}
      aria-label=${[stars.label[row], ...factsOf(row)].join(', ')} title=${stars.label[row]}
      style=${`top:${top}px;padding-inline-start:${Math.min(depth, 12) * 14 + 4}px`} onClick=${() => enter(row)}>
      <span class="twisty" aria-hidden="true" onClick=${(/** @type {Event} */ event) => {
        if (!unfolds) return;
        event.stopPropagation();
        select(row);
        unfold(row, !open);
      }}>${unfolds ? (open ? '▾' : '▸') : ''}</span>
      <span class="dot" aria-hidden="true"></span>
      <span class="name">${stars.label[row]}</span>
      ${unfolds && !open && html`<span class="quiet count">${number(stars.childCount[row])}</span>`}
    </div>`;
}

/** @param {{row: number, top: number}} props */
function More({ row, top }) {
  const stars = /** @type {import('./forest.js').Forest} */ (forest.value);
  const busy = reading.value.has(stars.id[row]);
  const text = busy ? t('tree.reading') : t('tree.more', { n: stars.hidden(row) });
  return html`
    <div class="tree-line more" role="treeitem" tabindex=${current.value === ~row ? 0 : -1} aria-level=${stars.depth[row] + 2}
      aria-selected="false" aria-busy=${busy ? 'true' : undefined} onClick=${() => readChildren(row)}
      style=${`top:${top}px;padding-inline-start:${Math.min(stars.depth[row] + 1, 12) * 14 + 26}px`}>${text}</div>`;
}

/** @param {number} row @param {boolean} open */
function unfold(row, open) {
  const stars = /** @type {import('./forest.js').Forest} */ (forest.value);
  setUnfolded(row, open);
  if (open && stars.loaded[row] === 0) readChildren(row);
}

/** @param {number} row */
function enter(row) {
  const { id } = /** @type {import('./forest.js').Forest} */ (forest.value);
  select(row);
  open(id[row]);
  flyTo(id[row]);
}

/** @param {KeyboardEvent} event @param {HTMLElement | null} box */
function press(event, box) {
  if (event.ctrlKey || event.metaKey || event.altKey || !box || current.value === null) return;
  const act = actions[event.key];
  if (act) {
    typed = { text: '', at: 0 };
    act();
  } else if (event.key.length !== 1 || !find(event.key)) return;
  event.preventDefault();
  event.stopPropagation();
}

/** @type {Record<string, () => void>} */
const actions = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  PageDown: () => step(10),
  PageUp: () => step(-10),
  Home: () => go(lines.value.lines[0]),
  End: () => go(/** @type {number} */ (lines.value.lines.at(-1))),
  ArrowRight: () => {
    const row = /** @type {number} */ (current.value);
    const stars = /** @type {import('./forest.js').Forest} */ (forest.value);
    if (row < 0 || !hasBelow(stars, shown.value, row)) return;
    if (isUnfolded(row)) step(1);
    else unfold(row, true);
  },
  ArrowLeft: () => {
    const line = /** @type {number} */ (current.value);
    const stars = /** @type {import('./forest.js').Forest} */ (forest.value);
    if (line >= 0 && isUnfolded(line) && hasBelow(stars, shown.value, line)) return unfold(line, false);
    const above = line < 0 ? ~line : stars.parent[line];
    if (above > SKY) go(above);
  },
  Enter: () => {
    const line = /** @type {number} */ (current.value);
    if (line < 0) readChildren(~line);
    else enter(line);
  },
};

/** @param {number} by */
function step(by) {
  const all = lines.value.lines;
  const to = all.indexOf(/** @type {number} */ (current.value)) + by;
  go(all[Math.min(all.length - 1, Math.max(0, to))]);
}

/** @param {number} line */
function go(line) {
  batch(() => {
    if (line > SKY) select(line);
    else if (~line > SKY) select(~line);
    more.value = { line, selectedId: selectedId.value };
  });
}

/** @param {string} character @returns {boolean} whether it was part of a name that is looked for */
function find(character) {
  const now = performance.now();
  const text = now - typed.at < TYPED_MS ? typed.text + character : character;
  if (text.trim() === '' || character === '/') return false;
  typed = { text, at: now };
  const { label } = /** @type {import('./forest.js').Forest} */ (forest.value);
  const all = lines.value.lines;
  const wanted = text.toLocaleLowerCase();
  const from = all.indexOf(/** @type {number} */ (current.value)) + (text.length === 1 ? 1 : 0);
  for (let tried = 0; tried < all.length; tried++) {
    const line = all[(from + tried) % all.length];
    if (line >= 0 && label[line].toLocaleLowerCase().startsWith(wanted)) {
      go(line);
      break;
    }
  }
  return true;
}
