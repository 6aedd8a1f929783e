/**
 * What was changed in a form and is not saved yet. A draft outlives its panel: whoever leaves one is
 * asked whether to go back to it or to let it go.
 */
import { html, signal, useEffect, useMemo } from '../html.js';
import { ask } from '../shell/dialog.js';
import { t } from '../texts.js';

/** @typedef {import('../../vendor/signals.js').Signal<Record<string, any>>} Changes */

/**
 * @typedef {object} Draft
 * @property {(field: string) => any} value as changed, else as stored
 * @property {(field: string) => (value: any) => void} setter
 * @property {Record<string, any>} changes only what differs from what is stored
 * @property {boolean} isChanged
 * @property {() => void} forget
 */

/** @type {Map<string, Changes>} */
const drafts = new Map();

addEventListener('beforeunload', (event) => {
  if ([...drafts.values()].some(hasChanges)) event.preventDefault();
});

/**
 * @param {string} place whose form it is
 * @param {Record<string, any>} stored the fields as the server has them
 * @param {() => void} back opens the form again
 * @returns {Draft}
 */
export function useDraft(place, stored, back) {
  const changes = useMemo(() => changesOf(place), [place]);
  useEffect(() => () => void leave(place, changes, back), [place]);
  return {
    value: (field) => (field in changes.value ? changes.value[field] : stored[field]),
    setter: (field) => (value) => {
      const { [field]: _, ...others } = changes.peek();
      changes.value = isSame(value, stored[field]) ? others : { ...others, [field]: value };
    },
    changes: changes.value,
    isChanged: hasChanges(changes),
    forget: () => {
      changes.value = {};
    },
  };
}

/** @param {string} place @returns {Changes} */
function changesOf(place) {
  const found = drafts.get(place) ?? signal({});
  drafts.set(place, found);
  return found;
}

/** @param {string} place @returns {boolean} whether a draft waits there */
export function isDrafted(place) {
  const changes = drafts.get(place);
  return changes !== undefined && hasChanges(changes);
}

/** @param {string} ending of the places of what goes, with all that was drafted about it */
export function forgetDrafts(ending) {
  for (const [place, changes] of drafts) {
    if (place.endsWith(ending)) changes.value = {};
  }
}

/** @param {Changes} changes */
function hasChanges(changes) {
  return Object.keys(changes.value).length > 0;
}

/** @param {string} place @param {Changes} changes @param {() => void} back */
async function leave(place, changes, back) {
  if (!hasChanges(changes)) return;
  const discard = await ask(t('draft.title'), (close) => html`
    <p>${t('draft.text')}</p>
    <div class="row end">
      <button type="button" class="danger" onClick=${() => close(true)}>${t('draft.discard')}</button>
      <button type="button" class="primary" autofocus onClick=${() => close(false)}>${t('draft.back')}</button>
    </div>`);
  if (discard) drafts.delete(place);
  else back();
}

/** @param {any} one @param {any} other */
function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
