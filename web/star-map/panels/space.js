import { html } from '../html.js';

export function SpacePage() {
  return html`<section></section>`;
}
