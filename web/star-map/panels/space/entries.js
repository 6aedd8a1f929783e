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
 * @property {(fields: Record<string, any>) => Promise<unknown>} put
 * @property {(name: string) => Promise<unknown>} remove
 */

/** @param {{kind: Kind, entries: any[], canEdit: boolean, again: () => Promise<void>}} props */
export function Entries({ kind, entries, canEdit, again }) {
  return html`
    ${entries.length === 0 && html`<p class="quiet">${kind.none}</p>`}
    ${entries.map((entry) => html`
      <${Entry} key=${kind.nameOf(entry)} kind=${kind} entry=${entry} canEdit=${canEdit} again=${again} />`)}
    ${canEdit && html`<${Added} kind=${kind} again=${again} />`}`;
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

/** @param {{kind: Kind, again: () => Promise<void>}} props */
function Added({ kind, again }) {
  const place = `${kind.section}+`;
  const isOpen = useSignal(isDrafted(place));
  return html`
    <details class="entry" open=${isOpen.value}
      onToggle=${(/** @type {any} */ event) => { isOpen.value = event.currentTarget.open; }}>
      <summary>${kind.add}</summary>
      <${Fields} kind=${kind} place=${place} stored=${kind.blank} canEdit isNew again=${again} />
    </details>`;
}

/** @param {{kind: Kind, place: string, stored: any, canEdit: boolean, isNew?: boolean, again: () => Promise<void>}} props */
function Fields({ kind, place, stored, canEdit, isNew = false, again }) {
  const draft = useDraft(place, stored, () => openSection(kind.section));
  const field = (/** @type {string} */ name) => ({ value: draft.value(name), set: draft.setter(name) });
  const save = async () => {
    await kind.put({ ...stored, ...draft.changes });
    await again();
  };
  return html`
    <${Form} draft=${draft} save=${save} canSave=${canEdit} label=${isNew ? kind.add : t('fields.save')}>
      ${kind.fields(field, isNew)}
    <//>`;
}
