/** Which part of the Space's page shows. */
import { signal } from '../../html.js';
import { openSide } from '../../state.js';

/** @typedef {'general' | 'records' | 'shared' | 'skills' | 'profiles' | 'keys'} Section */

export const section = signal(/** @type {Section} */ ('general'));

/** @param {Section} name */
export function openSection(name) {
  section.value = name;
  openSide('space');
}
