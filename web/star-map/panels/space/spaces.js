/** For keys of the scope OPERATOR: all Spaces. */
import { Refusal, query } from '../../graphql.js';
import { html } from '../../html.js';
import { say } from '../../shell/toasts.js';
import { dateTime, t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { askCount } from '../ask-count.js';
import { useDraft } from '../draft.js';
import { Form, Text } from '../fields.js';
import { Read, useReading } from '../read.js';

const ALL = '{ spaces(first: 1000) { id name sessionCount createdAt } }';
const CREATE = 'mutation Create($id: ID!, $name: String!) { createSpace(id: $id, name: $name) { id } }';
const DELETE = 'mutation Delete($id: ID!, $count: Int!) { deleteSpace(id: $id, expectedCount: $count) }';

export function Spaces() {
  const reading = useReading(ALL);
  return html`
    <${Read} reading=${reading}>${(/** @type {any} */ { spaces }) => html`
      <div class="scrolls">
        <table>
          <thead>
            <tr>${['id', 'name', 'sessions', 'created', 'delete'].map((name) => html`
              <th key=${name} scope="col">${t(`space.spaces.${name}`)}</th>`)}</tr>
          </thead>
          <tbody>${spaces.map((/** @type {any} */ space) => html`<${Space} key=${space.id} space=${space} again=${reading.again} />`)}</tbody>
        </table>
      </div>`}
    <//>
    <${Creator} again=${reading.again} />`;
}

/** @param {{space: any, again: () => Promise<void>}} props */
function Space({ space, again }) {
  const remove = async () => {
    if (await isDeleted(space, space.sessionCount)) say(t('space.space-deleted', { name: space.name }));
    await again();
  };
  return html`
    <tr>
      <th scope="row"><code>${space.id}</code></th>
      <td>${space.name}</td>
      <td>${space.sessionCount}</td>
      <td>${dateTime(space.createdAt)}</td>
      <td><${ActionButton} label=${t('space.delete')} name=${t('space.delete-one', { name: space.name })} act=${remove} kind="danger" /></td>
    </tr>`;
}

/**
 * Asks how many sessions go and deletes; where they became others meanwhile, asks again.
 * @param {any} space
 * @param {number} count
 * @returns {Promise<boolean>}
 */
async function isDeleted(space, count) {
  const isSure = await askCount(t('space.delete'), t('space.delete-space', { name: space.name, n: count }), count);
  if (!isSure) return false;
  try {
    await query(DELETE, { id: space.id, count });
    return true;
  } catch (error) {
    if (!(error instanceof Refusal) || error.extensions.count === undefined) throw error;
    return isDeleted(space, error.extensions.count);
  }
}

/** @param {{again: () => Promise<void>}} props */
function Creator({ again }) {
  const draft = useDraft('spaces+', { id: '', name: '' }, () => {});
  const field = (/** @type {string} */ name) => ({ value: draft.value(name), set: draft.setter(name) });
  const create = async () => {
    await query(CREATE, { id: draft.value('id'), name: draft.value('name') });
    await again();
  };
  return html`
    <section class="part" aria-label=${t('space.add-space')}>
      <h3>${t('space.add-space')}</h3>
      <${Form} draft=${draft} save=${create} label=${t('space.add-space')}>
        <div class="columns">
          <${Text} label=${t('space.spaces.id')} hint=${t('space.id-hint')} pattern="[a-z0-9\\-]+" maxlength="64" required ...${field('id')} />
          <${Text} label=${t('space.name')} maxlength="200" required ...${field('name')} />
        </div>
      <//>
    </section>`;
}
