import { html } from '../html.js';

export function Sky() {
  return html`<section></section>`;
}
