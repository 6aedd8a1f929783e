import { html } from '../html.js';

/** @param {{id: string}} props */
export function Preview({ id }) {
  return html`<section>${id}</section>`;
}
