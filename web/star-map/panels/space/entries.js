/** A list of things that a Space keeps by name: each opens to a form, and a new one is added below. */
import { html, useSignal } from '../../html.js';
import { confirm } from '../../shell/dialog.js';
import { t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { forgetDrafts, isDrafted, useDraft } from '../draft.js';
import { Form } from '../fields.js';
import { openSection } from './section.js';

/**
 * @typedef {object} Kind
 * @property {import('./section.js').Section} section where they stand
 * @property {string} none what stands where there are none
 * @property {string} add
 * @property {Record<string, any>} blank the fields of a new one
 * @property {(entry: any) => string} nameOf
 * @property {(entry: any) => string} aboutOf one line beside the name
 * @property {(field: (name: string) => {value: any, set: (value: any) => void}, isNew: boolean) => import('../../html.js').Children} fields
 * @property {(fields: Record<string, any>, base: Record<string, any>) => Promise<unknown>} put
 *   `base`: as stored when the change began; false where what others wrote is to stay
 * @property {boolean} [isGuarded] whether `put` itself asks before it writes over what is there
 * @property {(name: string) => Promise<unknown>} remove
 */

/** @param {{kind: Kind, entries: any[], canEdit: boolean, again: () => Promise<void>}} props */
export function Entries({ kind, entries, canEdit, again }) {
  return html`
    ${entries.length === 0 && html`<p class="quiet">${kind.none}</p>`}
    ${entries.map((entry) => html`
      <${Entry} key=${kind.nameOf(entry)} kind=${kind} entry=${entry} canEdit=${canEdit} again=${again} />`)}
    ${canEdit && html`<${Added} kind=${kind} entries=${entries} again=${again} />`}`;
}

/** @param {{kind: Kind, entry: any, canEdit: boolean, again: () => Promise<void>}} props */
function Entry({ kind, entry, canEdit, again }) {
  const name = kind.nameOf(entry);
  const place = `${kind.section}:${name}`;
  const isOpen = useSignal(isDrafted(place));
  const remove = async () => {
    const isSure = await confirm({
      title: t('space.delete'), text: t('space.delete-sure', { name }), action: t('space.delete'), danger: true,
    });
    if (!isSure) return;
    await kind.remove(name);
    forgetDrafts(place);
    await again();
  };
  return html`
    <details class="entry" open=${isOpen.value}
      onToggle=${(/** @type {any} */ event) => { isOpen.value = event.currentTarget.open; }}>
      <summary><strong>${name}</strong> <span class="quiet">${kind.aboutOf(entry)}</span></summary>
      ${(isOpen.value || isDrafted(place)) && html`<div class="stack">
        <${Fields} kind=${kind} place=${place} stored=${entry} canEdit=${canEdit} again=${again} />
        ${canEdit && html`
          <div class="row">
            <${ActionButton} label=${t('space.delete')} name=${t('space.delete-one', { name })} act=${remove} kind="danger" />
          </div>`}
      </div>`}
    </details>`;
}

/** @param {{kind: Kind, entries: any[], again: () => Promise<void>}} props */
function Added({ kind, entries, again }) {
  const place = `${kind.section}+`;
  const isOpen = useSignal(isDrafted(place));
  const mayPut = async (/** @type {Record<string, any>} */ fields) => {
    const name = kind.nameOf(fields);
    if (kind.isGuarded || !entries.some((entry) => kind.nameOf(entry) === name)) return true;
    return confirm({ title: kind.add, text: t('space.exists', { name }), action: t('space.replace'), danger: true });
  };
  return html`
    <details class="entry" open=${isOpen.value}
      onToggle=${(/** @type {any} */ event) => { isOpen.value = event.currentTarget.open; }}>
      <summary>${kind.add}</summary>
      <${Fields} kind=${kind} place=${place} stored=${kind.blank} canEdit isNew mayPut=${mayPut} again=${again} />
    </details>`;
}

/**
 * @param {{kind: Kind, place: string, stored: any, canEdit: boolean, isNew?: boolean, again: () => Promise<void>,
 *   mayPut?: (fields: Record<string, any>) => Promise<boolean>}} props
 */
function Fields({ kind, place, stored, canEdit, isNew = false, again, mayPut = async () => true }) {
  const draft = useDraft(place, stored, () => openSection(kind.section));
  const field = (/** @type {string} */ name) => ({ value: draft.value(name), set: draft.setter(name) });
  const save = async () => {
    const fields = { ...stored, ...draft.changes };
    if (!(await mayPut(fields))) return false;
    const isStored = (await kind.put(fields, draft.base)) !== false;
    if (!isStored) draft.forget();
    await again();
    return isStored;
  };
  return html`
    <${Form} draft=${draft} save=${save} canSave=${canEdit} label=${isNew ? kind.add : t('fields.save')}>
      ${kind.fields(field, isNew)}
    <//>`;
}
