/** Every change of the map, in order, without gaps or repeats; one subscription for the whole page. */
import { connection, subscribe } from './graphql.js';

/** @typedef {{seq: number, type: string, nodeId: string, data: any, at: string, node: Record<string, any> | null}} TopologyEvent */

const EVENTS = `subscription Live($after: Long!) {
  topologyEvents(after: $after) {
    seq type nodeId data at
    node { id parentId label status role depth index childCount turnCount sourceSessionId lastActiveAt }
  }
}`;

/** @type {Set<(event: TopologyEvent) => void>} */
const listeners = new Set();
let seq = 0;
let stop = () => {};

/** @param {(event: TopologyEvent) => void} listener @returns {() => void} stops it */
export function listen(listener) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Follows the map no more, until the next `start`. */
export function stopLive() {
  stop();
  stop = () => {};
}

/**
 * Follows the map after a snapshot, in place of what was followed before.
 * @param {number} eventSeq the snapshot's
 * @param {(refusal: import('./graphql.js').Refusal) => void} onEnd told where it cannot go on:
 *   LIMIT_EXCEEDED where the events since were pruned, so that a fresh snapshot is due
 */
export function start(eventSeq, onEnd) {
  stopLive();
  seq = eventSeq;
  stop = subscribe(EVENTS, () => ({ after: seq }), {
    next: ({ topologyEvents: event }) => {
      seq = event.seq;
      for (const listener of [...listeners]) listener(event);
    },
    error: (refusal) => {
      connection.value = 'lost';
      onEnd(refusal);
    },
    complete: () => start(seq, onEnd),
  });
}
