import { html } from '../html.js';

export function Events() {
  return html`<section></section>`;
}
