/** One event, in words. */
import { html } from '../../html.js';
import { dateTime, t } from '../../texts.js';
import { SessionLink } from '../session-link.js';

const LONGEST = 240;

/** @param {{event: import('../../live.js').TopologyEvent}} props */
export function Row({ event: { seq, type, nodeId, data, at, node } }) {
  const details = inShort(data);
  return html`
    <li class="event">
      <time datetime=${at} title=${at}>${dateTime(at)}</time>
      <span>
        ${t(`events.is.${type}`)}${' · '}
        <${SessionLink} id=${nodeId} label=${node?.label ?? null} />${' '}
        <span class="quiet">#${seq}</span>
      </span>
      ${details && html`<span class="data">${details}</span>`}
    </li>`;
}

/** @param {Record<string, unknown>} data @returns {string} its fields in one line */
function inShort(data) {
  const line = Object.entries(data)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' · ');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
