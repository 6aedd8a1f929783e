import { html } from '../html.js';

/** @param {{id: string}} props */
export function Memory({ id }) {
  return html`<section>${id}</section>`;
}
