import { html } from '../html.js';

/** @param {{id: string}} props */
export function Settings({ id }) {
  return html`<section>${id}</section>`;
}
