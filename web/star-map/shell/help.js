/** Which keys do what. */
import { html } from '../html.js';
import { t } from '../texts.js';
import { ask } from './dialog.js';

const KEYS = [
  { name: 'search', keys: ['/'] },
  { name: 'new', keys: ['N'] },
  { name: 'arrows', keys: ['↑', '↓', '←', '→'] },
  { name: 'open', keys: ['Enter'] },
  { name: 'other', keys: ['F6'] },
  { name: 'tabs', keys: ['←', '→'] },
  { name: 'send', keys: ['Enter'] },
  { name: 'line', keys: ['Shift', 'Enter'] },
  { name: 'close', keys: ['Esc'] },
  { name: 'help', keys: ['?'] },
];

export function showHelp() {
  ask(t('help.title'), () => html`
    <table class="keys">
      <tbody>
        ${KEYS.map(({ name, keys }) => html`
          <tr key=${name}><th scope="row">${keys.map((key) => html`<kbd>${key}</kbd> `)}</th><td>${t(`help.${name}`)}</td></tr>`)}
      </tbody>
    </table>`);
}
