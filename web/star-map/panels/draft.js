/**
 * What was changed in a form and is not saved yet. A draft outlives its panel: whoever leaves one is
 * asked whether to go back to it or to let it go. With another Space all of them go.
 */
import { effect, html, signal, useLayoutEffect, useMemo, useRef } from '../html.js';
import { listen } from '../live.js';
import { ask } from '../shell/dialog.js';
import { viewer } from '../state.js';
import { t } from '../texts.js';

/**
 * @typedef {object} Kept
 * @property {Record<string, any>} changes only what differs from what is stored
 * @property {Record<string, any> | null} base what was stored when the first of them was made
 */
/** @typedef {import('../../vendor/signals.js').Signal<Kept>} KeptSignal */

/**
 * @typedef {object} Draft
 * @property {(field: string) => any} value as changed, else as stored
 * @property {(field: string) => (value: any) => void} setter
 * @property {Record<string, any>} changes only what differs from what is stored
 * @property {Record<string, any>} base what was stored when the first of them was made
 * @property {boolean} isChanged
 * @property {(save: () => Promise<unknown>) => Promise<boolean>} send saves the changes and forgets those that were
 *   sent, but not what is typed meanwhile; resolves to whether they are stored: not where `save` resolves to false
 * @property {() => boolean} isEmpty whether nothing is changed by now
 * @property {() => void} forget
 */

/** @type {Kept} */
const NOTHING = { changes: {}, base: null };
/** @type {Map<string, KeptSignal>} */
const drafts = new Map();
let owner = /** @type {string | null | undefined} */ (undefined);

addEventListener('beforeunload', (event) => {
  if ([...drafts.values()].some(hasChanges)) event.preventDefault();
});
// While a key is tried nobody is known; who comes back to the same Space finds the drafts.
effect(() => {
  if (viewer.value === null || viewer.value.spaceId === owner) return;
  owner = viewer.value.spaceId;
  forgetDrafts('');
  drafts.clear();
});
listen(({ type, nodeId, data }) => {
  if (type === 'SESSION_DELETED') for (const id of data?.ids ?? [nodeId]) forgetDrafts(`:${id}`);
});

/**
 * @param {string} place whose form it is
 * @param {Record<string, any>} stored the fields as the server has them
 * @param {() => void} back opens the form again
 * @returns {Draft}
 */
export function useDraft(place, stored, back) {
  const key = keyOf(place);
  const kept = useMemo(() => keptAt(key), [key]);
  const sent = useRef(/** @type {Record<string, any>} */ ({}));
  useLayoutEffect(() => () => void leave(key, kept, back), [key]);
  const { changes, base } = kept.value;
  return {
    value: (field) => (field in changes ? changes[field] : stored[field]),
    setter: (field) => (value) => {
      const { changes: { [field]: _, ...others }, base } = kept.peek();
      // What is on its way will be stored: to take it back is a change.
      const isBack = isSame(value, stored[field]) && !(field in sent.current);
      kept.value = keptOf(isBack ? others : { ...others, [field]: value }, base ?? stored);
    },
    changes,
    base: base ?? stored,
    isChanged: hasChanges(kept),
    send: async (save) => {
      sent.current = changes;
      try {
        if ((await save()) === false) return false;
        kept.value = keptOf(without(kept.peek().changes, changes), null);
        return true;
      } finally {
        sent.current = {};
      }
    },
    isEmpty: () => !hasChanges(kept),
    forget: () => {
      kept.value = NOTHING;
    },
  };
}

/** @param {string} place @returns {string} the same place of another Space is another one */
function keyOf(place) {
  return `${viewer.peek()?.spaceId}/${place}`;
}

/** @param {string} key @returns {KeptSignal} */
function keptAt(key) {
  const found = drafts.get(key) ?? signal(NOTHING);
  drafts.set(key, found);
  return found;
}

/** @param {Record<string, any>} changes @param {Record<string, any> | null} base @returns {Kept} */
function keptOf(changes, base) {
  return Object.keys(changes).length > 0 ? { changes, base } : NOTHING;
}

/** @param {Record<string, any>} changes @param {Record<string, any>} sent */
function without(changes, sent) {
  const left = Object.entries(changes).filter(([field, value]) => !(field in sent && isSame(value, sent[field])));
  return Object.fromEntries(left);
}

/** @param {string} place @returns {boolean} whether a draft waits there */
export function isDrafted(place) {
  const kept = drafts.get(keyOf(place));
  return kept !== undefined && hasChanges(kept);
}

/** @param {string} ending of the places of what goes, with all that was drafted about it */
export function forgetDrafts(ending) {
  for (const [key, kept] of drafts) {
    if (key.endsWith(ending)) kept.value = NOTHING;
  }
}

/** @param {KeptSignal} kept */
function hasChanges(kept) {
  return Object.keys(kept.value.changes).length > 0;
}

/** @param {string} key @param {KeptSignal} kept @param {() => void} back */
async function leave(key, kept, back) {
  if (!hasChanges(kept)) return;
  const discard = await ask(t('draft.title'), (close) => html`
    <p>${t('draft.text')}</p>
    <div class="row end">
      <button type="button" class="danger" onClick=${() => close(true)}>${t('draft.discard')}</button>
      <button type="button" class="primary" autofocus onClick=${() => close(false)}>${t('draft.back')}</button>
    </div>`);
  if (discard) drafts.delete(key);
  else back();
}

/** @param {any} one @param {any} other */
function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
