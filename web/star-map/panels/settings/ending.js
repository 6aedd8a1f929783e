/** Archiving and deleting. */
import { Refusal, query } from '../../graphql.js';
import { html } from '../../html.js';
import { say } from '../../shell/toasts.js';
import { close } from '../../state.js';
import { t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { askCount } from '../ask-count.js';
import { forgetDrafts } from '../draft.js';

const ARCHIVE = 'mutation Archive($id: ID!) { archiveSession(id: $id) { id } }';
const UNARCHIVE = 'mutation Unarchive($id: ID!) { unarchiveSession(id: $id) { id } }';
const DELETE = 'mutation Delete($id: ID!, $count: Int!) { deleteSession(id: $id, expectedCount: $count) }';
/** No subtree has so many sessions, so that this number only asks for the right one. */
const UNKNOWN = 2 ** 31 - 1;

/** @param {import('../settings.js').Part} part */
export function Ending({ session, change }) {
  const isArchived = session.status === 'ARCHIVED';
  const remove = async () => {
    const gone = await deleted(session, UNKNOWN);
    if (!gone) return;
    close();
    say(t('settings.deleted', { n: gone }));
  };
  return html`
    <section class="part" aria-label=${t('settings.ending')}>
      <h3>${t('settings.ending')}</h3>
      <p class="quiet">${t(isArchived ? 'settings.archived-about' : 'settings.archive-about')}</p>
      <div class="row">
        <${ActionButton} key="status" label=${t(isArchived ? 'settings.unarchive' : 'settings.archive')}
          act=${() => change(isArchived ? UNARCHIVE : ARCHIVE)} />
        <${ActionButton} key="delete" label=${t('settings.delete')} act=${remove} kind="danger" />
      </div>
    </section>`;
}

/**
 * Deletes what was agreed to; where the number of sessions is another one, asks again.
 * @param {any} session
 * @param {number} count
 * @returns {Promise<number>} how many went, 0 where it was left
 */
async function deleted(session, count) {
  try {
    const { deleteSession } = await query(DELETE, { id: session.id, count });
    forgetDrafts(`:${session.id}`);
    return deleteSession.length;
  } catch (error) {
    const asked = error instanceof Refusal && error.code === 'CONFLICT' ? error.extensions.count : undefined;
    if (asked === undefined) throw error;
    const isSure = await askCount(t('settings.delete'), t('settings.delete-sure', { n: asked, label: session.label }), asked);
    return isSure ? deleted(session, asked) : 0;
  }
}
