/** Importing export files: chosen or dropped anywhere on the page, one after another, each with its report. */
import { Refusal } from '../graphql.js';
import { html, signal, useEffect, useSignal } from '../html.js';
import { listen } from '../live.js';
import { canWrite, flyTo, open } from '../state.js';
import { t } from '../texts.js';
import { upload } from './upload.js';
import { ask, isAsking } from './dialog.js';
import { Icon } from './icons.js';
import { Report } from './import-report.js';
import { reason } from './toasts.js';

/**
 * @typedef {{name: string, size: number, sent: number, progress: any, report: any, refusal: Refusal | null}} Item
 *   a file and how far it has come
 */

/** Whether files are held over the page. */
const over = signal(false);

/** Lets a person choose files, and imports them. */
export function chooseFiles() {
  const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true, accept: '.json,.jsonl,.zip,.gz' });
  input.onchange = () => importFiles([...(input.files ?? [])]);
  input.click();
}

/** @param {File[]} files */
export async function importFiles(files) {
  if (files.length === 0) return;
  const first = await ask(t('import.title'), (close) => html`<${Import} files=${files} done=${close} />`);
  if (!first) return;
  open(first);
  flyTo(first);
}

/** Where files are dropped: the whole page, while nothing is asked. */
export function DropPlace() {
  useEffect(listenToDrops, []);
  return over.value && html`<div class="drop-place"><p><${Icon} name="import" /> ${t('import.drop')}</p></div>`;
}

/**
 * Files are never left to the browser: it would leave the page for them.
 * @returns {() => void}
 */
function listenToDrops() {
  const stop = new AbortController();
  const on = (/** @type {'dragover' | 'dragleave' | 'drop'} */ name, /** @type {(event: DragEvent) => void} */ act) =>
    document.addEventListener(name, act, { signal: stop.signal });
  const mayImport = () => canWrite.peek() && !isAsking();
  on('dragover', (event) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    over.value = mayImport();
    if (!over.value) event.dataTransfer.dropEffect = 'none';
  });
  on('dragleave', (event) => {
    if (event.relatedTarget === null) over.value = false;
  });
  on('drop', (event) => {
    over.value = false;
    if (!event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    if (mayImport()) importFiles([...event.dataTransfer.files]);
  });
  return () => stop.abort();
}

/** @param {{files: File[], done: (first?: string) => void}} props */
function Import({ files, done }) {
  const items = useSignal(files.map(itemOf));
  const first = useSignal(/** @type {string | null} */ (null));
  useEffect(() => {
    const stop = new AbortController();
    importEach(files, items, stop.signal);
    return () => stop.abort();
  }, []);
  useEffect(() => listen(({ type, nodeId, data }) => {
    if (type === 'SESSION_CREATED' && data.imported) first.value ??= nodeId;
  }), []);
  const isOver = items.value.every(({ report, refusal }) => report || refusal);
  return html`
    <ul class="imports" aria-live="polite">${items.value.map((item, place) => html`<${Row} key=${place} item=${item} />`)}</ul>
    ${!isOver && html`<p class="quiet">${t('import.whole')}</p>`}
    <div class="row end">
      ${isOver && first.value && html`<button type="button" onClick=${() => done(first.value ?? undefined)}>${t('import.show')}</button>`}
      <button type="button" class=${isOver ? 'primary' : ''} onClick=${() => done()}>${isOver ? t('dialog.close') : t('dialog.cancel')}</button>
    </div>`;
}

/** @param {File} file @returns {Item} */
function itemOf({ name, size }) {
  return { name, size, sent: 0, progress: null, report: null, refusal: null };
}

/**
 * @param {File[]} files
 * @param {import('../../vendor/signals.js').Signal<Item[]>} items told how far each is
 * @param {AbortSignal} stop
 */
async function importEach(files, items, stop) {
  for (const [place, file] of files.entries()) {
    const tell = (/** @type {Partial<Item>} */ change) => {
      items.value = items.value.map((item, each) => (each === place ? { ...item, ...change } : item));
    };
    try {
      await upload('import', file, {
        sent: (sent) => tell({ sent }),
        line: ({ progress, report, error }) => tell(error ? { refusal: new Refusal(error.code, error.message) } : { progress, report }),
        signal: stop,
      });
      if (!items.value[place].report && !items.value[place].refusal) throw new Refusal('OFFLINE', 'The answer broke off.');
    } catch (error) {
      if (stop.aborted) return;
      if (!(error instanceof Refusal)) throw error;
      tell({ refusal: error });
    }
  }
}

/** @param {{item: Item}} props */
function Row({ item: { name, size, sent, progress, report, refusal } }) {
  return html`
    <li>
      <strong>${name}</strong>
      ${refusal && html`<p class="error">${why(refusal)}</p>`}
      ${refusal?.code === 'INVALID_INPUT' && html`<p class="quiet">${refusal.message}</p>`}
      ${report && html`<${Report} report=${report} />`}
      ${!refusal && !report && html`
        <progress aria-label=${name} max=${progress?.totalBytes ?? size} value=${progress?.bytes ?? sent}></progress>
        <p class="quiet">${progress ? t('import.conversations', { n: progress.conversations }) : t('import.sending')}</p>`}
    </li>`;
}

/** @param {Refusal} refusal */
function why(refusal) {
  if (refusal.extensions.status === 413) return t('import.large');
  return refusal.code === 'INVALID_INPUT' ? t('import.nothing') : reason(refusal);
}
