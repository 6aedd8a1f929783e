import { html } from '../html.js';

/** @param {{id: string}} props */
export function Talk({ id }) {
  return html`<section>${id}</section>`;
}
