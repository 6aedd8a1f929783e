/** The newest events: those that were, then those that come. */
import { Refusal, query } from '../../graphql.js';
import { signal, useEffect, useMemo } from '../../html.js';
import { listen } from '../../live.js';
import { reason } from '../../shell/toasts.js';
import { t } from '../../texts.js';

/** @typedef {import('../../live.js').TopologyEvent} TopologyEvent */

export const TYPES = [
  'SESSION_CREATED', 'SESSION_FORKED', 'SESSION_UPDATED', 'SESSION_ARCHIVED', 'SESSION_UNARCHIVED', 'SESSION_DELETED',
  'REF_ADDED', 'REF_REMOVED', 'MEMORY_UPDATED', 'INSIGHT_PUT', 'INSIGHT_CONSUMED', 'SYNTHESIS_UPDATED',
  'TURN_ENDED', 'TASK_FAILED',
];
const BEFORE = 200;
const KEPT = 1_000;
const NEWEST = '{ starMap(maxNodes: 1) { eventSeq } }';
// More than the difference: on Neo4j the snapshot's number may be behind what the page was told already.
const PAST = `query Past($after: Long!) {
  events(after: $after, first: 500) { seq type nodeId data at node { label } }
}`;

/** What shows, and what waits to show; drawn once a frame however much comes. */
function stream() {
  const shown = signal(/** @type {TopologyEvent[]} */ ([]));
  const waiting = signal(0);
  const isPaused = signal(false);
  const problem = signal(/** @type {string | null} */ (null));
  const isLoading = signal(true);
  let come = /** @type {TopologyEvent[]} */ ([]);
  let frame = 0;

  const draw = () => {
    frame = 0;
    if (isPaused.value) {
      waiting.value = come.length;
      return;
    }
    shown.value = merged(shown.value, come);
    come = [];
    waiting.value = 0;
  };
  const add = (/** @type {TopologyEvent[]} */ events) => {
    come = merged(come, events);
    frame ||= requestAnimationFrame(draw);
  };
  const loadPast = async () => {
    try {
      const { starMap } = await query(NEWEST);
      const { events } = await query(PAST, { after: Math.max(0, starMap.eventSeq - BEFORE) });
      add(events);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problem.value = error.code === 'LIMIT_EXCEEDED' ? t('events.pruned') : reason(error);
    }
    isLoading.value = false;
  };
  const start = () => {
    const stop = listen((event) => add([event]));
    void loadPast();
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  };
  const pause = () => {
    isPaused.value = !isPaused.value;
    draw();
  };
  return { shown, waiting, isPaused, problem, isLoading, start, pause };
}

/**
 * @param {TopologyEvent[]} some newest first
 * @param {TopologyEvent[]} others
 * @returns {TopologyEvent[]} each once, newest first
 */
function merged(some, others) {
  const bySeq = new Map([...some, ...others].map((event) => [event.seq, event]));
  return [...bySeq.values()].sort((one, other) => other.seq - one.seq).slice(0, KEPT);
}

/** The newest events for as long as a panel shows them. */
export function useEvents() {
  const { shown, waiting, isPaused, problem, isLoading, start, pause } = useMemo(stream, []);
  useEffect(start, []);
  return {
    events: shown.value,
    waiting: waiting.value,
    isPaused: isPaused.value,
    refusal: problem.value,
    isLoading: isLoading.value,
    pause,
  };
}
