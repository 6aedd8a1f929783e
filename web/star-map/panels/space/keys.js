/** Who may ask: the keys of the Space. */
import { query, setKey } from '../../graphql.js';
import { html } from '../../html.js';
import { confirm } from '../../shell/dialog.js';
import { viewer } from '../../state.js';
import { dateTime, t } from '../../texts.js';
import { ActionButton } from '../action.js';
import { useDraft } from '../draft.js';
import { Choice, Form, Text } from '../fields.js';
import { Read, useReading } from '../read.js';
import { showSecret } from './secret.js';
import { openSection } from './section.js';

const ALL = '{ apiKeys { id name prefix scope createdAt lastUsedAt revokedAt } }';
const WHO = '{ me { spaceId keyName scope } }';
const CREATE = 'mutation Create($name: String!, $scope: KeyScope!) { createApiKey(name: $name, scope: $scope) { secret } }';
const REVOKE = 'mutation Revoke($id: ID!) { revokeApiKey(id: $id) { id } }';
const SCOPES = ['READ', 'WRITE', 'ADMIN'];

export function Keys() {
  const reading = useReading(ALL);
  const isKeyless = viewer.value?.keyName === null;
  return html`
    ${isKeyless && html`<p class="notice">${t('space.keyless')}</p>`}
    <${Read} reading=${reading}>${(/** @type {any} */ { apiKeys }) => html`
      <${List} keys=${apiKeys} again=${reading.again} />`}
    <//>
    <${Creator} isKeyless=${isKeyless} again=${reading.again} />`;
}

/** @param {string} secret of the key that this tab asks with from now on */
async function become(secret) {
  setKey(secret);
  viewer.value = (await query(WHO)).me;
}

/** @param {{keys: any[], again: () => Promise<void>}} props */
function List({ keys, again }) {
  if (keys.length === 0) return html`<p class="quiet">${t('space.no-keys')}</p>`;
  return html`
    <div class="scrolls">
      <table>
        <thead>
          <tr>${['name', 'scope', 'created', 'used', 'state'].map((name) => html`
            <th key=${name} scope="col">${t(`space.keys.${name}`)}</th>`)}</tr>
        </thead>
        <tbody>${keys.map((key) => html`<${Key} key=${key.id} value=${key} again=${again} />`)}</tbody>
      </table>
    </div>`;
}

/** @param {{value: any, again: () => Promise<void>}} props */
function Key({ value: { id, name, prefix, scope, createdAt, lastUsedAt, revokedAt }, again }) {
  const revoke = async () => {
    const isSure = await confirm({
      title: t('space.revoke'), text: t('space.revoke-sure', { name }), action: t('space.revoke'), danger: true,
    });
    if (!isSure) return;
    await query(REVOKE, { id });
    await again();
  };
  return html`
    <tr>
      <th scope="row">${name}<br /><code class="quiet">${prefix}…</code></th>
      <td>${t(`space.scope.${scope}`)}</td>
      <td>${dateTime(createdAt)}</td>
      <td>${lastUsedAt ? dateTime(lastUsedAt) : t('space.never')}</td>
      <td>
        ${revokedAt
          ? html`<span class="quiet">${t('space.revoked', { at: dateTime(revokedAt) })}</span>`
          : html`<${ActionButton} label=${t('space.revoke')} name=${t('space.revoke-one', { name })} act=${revoke} kind="danger" />`}
      </td>
    </tr>`;
}

/**
 * The first key closes the server to whoever has none, so its secret is shown before anything else is asked.
 * @param {{isKeyless: boolean, again: () => Promise<void>}} props
 */
function Creator({ isKeyless, again }) {
  const blank = { name: '', scope: isKeyless ? 'ADMIN' : 'READ' };
  const draft = useDraft('keys+', blank, () => openSection('keys'));
  const field = (/** @type {string} */ name) => ({ value: draft.value(name), set: draft.setter(name) });
  const create = async () => {
    const { createApiKey } = await query(CREATE, { ...blank, ...draft.changes });
    draft.forget();
    const isTaken = await showSecret(createApiKey.secret, isKeyless);
    if (isTaken) await become(createApiKey.secret);
    await again();
  };
  return html`
    <section class="part" aria-label=${t('space.add-key')}>
      <h3>${t('space.add-key')}</h3>
      <${Form} draft=${draft} save=${create} label=${t('space.add-key')}>
        <div class="columns">
          <${Text} label=${t('space.name')} maxlength="200" required ...${field('name')} />
          <${Choice} label=${t('space.keys.scope')} hint=${t('space.scope-hint')} ...${field('scope')}
            options=${SCOPES.map((scope) => [scope, t(`space.scope.${scope}`)])} />
        </div>
      <//>
    </section>`;
}
