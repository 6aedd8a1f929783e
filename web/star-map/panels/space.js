/** What concerns the whole Space: its settings, what its sessions share, its keys. */
import { html } from '../html.js';
import { canAdmin, viewer } from '../state.js';
import { t } from '../texts.js';
import { General } from './space/general.js';
import { Keys } from './space/keys.js';
import { Profiles } from './space/profiles.js';
import { Records } from './space/records.js';
import { section } from './space/section.js';
import { SharedMemories } from './space/shared-memories.js';
import { Skills } from './space/skills.js';
import { Spaces } from './space/spaces.js';

/** @type {Record<import('./space/section.js').Section, () => any>} */
const SECTIONS = {
  general: General,
  records: Records,
  shared: SharedMemories,
  skills: Skills,
  profiles: Profiles,
  keys: Keys,
};

export function SpacePage() {
  if (viewer.value === null) return null;
  if (viewer.value.scope === 'OPERATOR') return html`<section class="panel" aria-label=${t('space.spaces')}><${Spaces} /></section>`;
  const all = /** @type {import('./space/section.js').Section[]} */ (Object.keys(SECTIONS));
  const names = all.filter((name) => name !== 'keys' || canAdmin.value);
  // Another key may not have the part that was shown to the one before.
  const shown = names.includes(section.value) ? section.value : 'general';
  return html`
    <section class="panel" aria-label=${t('space.title')}>
      <nav class="sections" aria-label=${t('space.sections')}>
        ${names.map((name) => html`
          <button type="button" key=${name} aria-current=${name === shown ? 'page' : undefined}
            onClick=${() => { section.value = name; }}>${t(`space.section.${name}`)}</button>`)}
      </nav>
      <${SECTIONS[shown]} key=${shown} />
    </section>`;
}
