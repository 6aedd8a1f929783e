/** A session by its name, that opens by a click. */
import { html } from '../html.js';
import { open } from '../state.js';
import { t } from '../texts.js';
import { useReading } from './read.js';

const LABELS = 'query Labels($ids: [ID!]!) { topologyNodes(ids: $ids) { id label } }';

/**
 * @param {(string | null | undefined)[]} ids
 * @returns {(id: string) => string | null} the label of each, null for those that are gone
 */
export function useLabels(ids) {
  const wanted = [...new Set(ids.filter((id) => typeof id === 'string'))].sort();
  const { data } = useReading(LABELS, wanted.length ? { ids: wanted } : null);
  const labels = new Map(data?.topologyNodes.filter(Boolean).map((/** @type {any} */ node) => [node.id, node.label]));
  return (id) => labels.get(id) ?? null;
}

/** @param {{id: string, label: string | null}} props without a label: gone, or not known yet */
export function SessionLink({ id, label }) {
  if (label === null) return html`<code class="quiet">${id}</code>`;
  return html`<button type="button" class="link" onClick=${() => open(id)}>${label || t('panels.unnamed')}</button>`;
}
