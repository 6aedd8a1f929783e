/** One session's conversation as it stands, kept up to date by events from wherever it is changed. */
import { Refusal, connection, query } from '../graphql.js';
import { effect, signal, untracked } from '../html.js';
import { listen } from '../live.js';
import { sayRefusal } from '../shell/toasts.js';
import { SAID, SESSION } from './documents.js';
import { Sending } from './sending.js';
import { Transcript } from './transcript.js';
import { Turn } from './turn.js';

/** @typedef {{id: string, label: string, status: 'ACTIVE' | 'ARCHIVED', role: string, node: {sourceSessionId: string | null} | null}} SessionFacts */

const MOST_FOLLOWED = 20;

export class Conversation {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    /** undefined while it loads, null where there is none. */
    this.session = signal(/** @type {SessionFacts | null | undefined} */ (undefined));
    this.transcript = new Transcript(id);
    /** The turn that runs now. */
    this.turn = signal(/** @type {Turn | null} */ (null));
    /** How the last turn ended. */
    this.last = signal(/** @type {import('./turn.js').TurnFacts | null} */ (null));
    /** Why it could not be loaded. */
    this.problem = signal(/** @type {Refusal | null} */ (null));
    this.isOpen = false;
    /** Turns that were followed last, by id: only they know how long tools took. */
    this.followed = new Map(/** @type {[string, Turn][]} */ ([]));
    this.sending = new Sending(id, {
      began: (turn) => this.began(turn),
      busy: () => this.refresh(),
    });
    /** Whether what the last turn could not answer is being said again. */
    this.isRepeating = signal(false);
    /** Whether the reader is at the end and stays there as it grows. */
    this.atEnd = signal(true);
  }

  /** @returns {() => void} stops it */
  start() {
    this.isOpen = true;
    const seen = () => document.visibilityState === 'visible' && this.refresh();
    const stop = listen((event) => event.nodeId === this.id && this.#changed(event));
    const stopWatching = onceOpen(() => {
      this.refresh();
      this.sending.deliverLost();
    });
    document.addEventListener('visibilitychange', seen);
    this.refresh();
    this.sending.deliver('REJECT');
    return () => {
      this.isOpen = false;
      stop();
      stopWatching();
      document.removeEventListener('visibilitychange', seen);
      this.turn.value?.stop();
    };
  }

  /** @param {import('../live.js').TopologyEvent} event */
  #changed({ type, data }) {
    const isTrimmed = type === 'SESSION_UPDATED' && data?.keepLast !== undefined;
    if (isTrimmed) this.transcript.newest().catch(sayRefusal);
    this.refresh();
  }

  /** Asks how it stands; what is new at the end is loaded. */
  async refresh() {
    try {
      const [{ session }] = await Promise.all([query(SESSION, { id: this.id }), this.transcript.catchUp()]);
      this.session.value = session;
      this.problem.value = null;
      if (session?.activeTurn) this.#follow(session.activeTurn);
      else if (!this.turn.value) this.last.value = session?.turns.at(-1) ?? null;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.problem.value = error;
      if (this.transcript.loaded.value) sayRefusal(error);
    }
  }

  /** @param {import('./turn.js').TurnFacts & {messages: import('./transcript.js').Message[]}} turn */
  began(turn) {
    this.toEnd();
    for (const message of turn.messages) this.transcript.add(message).catch(sayRefusal);
    this.#follow(turn);
  }

  /** Takes the reader to the newest message. */
  async toEnd() {
    this.atEnd.value = true;
    if (this.transcript.hasNewer.value) await this.transcript.newest().catch(sayRefusal);
  }

  /** Says again what the last turn could not answer. */
  async again() {
    if (this.isRepeating.value) return;
    this.isRepeating.value = true;
    try {
      const { turn } = await query(SAID, { id: this.last.value?.id });
      if (turn) await this.sending.say(turn.messages[0].content);
    } finally {
      this.isRepeating.value = false;
    }
  }

  /** @param {import('./turn.js').TurnFacts} facts */
  #follow(facts) {
    if (!this.isOpen) return;
    const known = this.turn.value;
    if (known?.id === facts.id) {
      if (known.pending.value.length) known.look().catch(sayRefusal);
      return;
    }
    known?.stop();
    const turn = new Turn(facts);
    this.turn.value = turn;
    this.last.value = null;
    this.#remember(turn);
    turn.follow({
      stored: (message) => void this.transcript.add(message).catch(sayRefusal),
      ended: (ended) => this.#ended(ended),
      broken: () => {
        this.turn.value = null;
        this.refresh();
      },
      lost: (refusal) => {
        this.turn.value = null;
        sayRefusal(refusal);
      },
    });
  }

  /** @param {Turn} turn */
  #remember(turn) {
    this.followed.set(turn.id, turn);
    const [oldest] = this.followed.keys();
    if (this.followed.size > MOST_FOLLOWED) this.followed.delete(oldest);
  }

  /** @param {import('./turn.js').TurnFacts} facts */
  #ended(facts) {
    if (this.turn.value?.id === facts.id) this.turn.value = null;
    this.last.value = facts;
    this.refresh();
  }
}

/**
 * Tells each time that events come from now on, so that what was before them is asked for.
 * @param {() => void} told
 * @returns {() => void} stops it
 */
function onceOpen(told) {
  let was = connection.peek();
  return effect(() => {
    const is = connection.value;
    if (is === 'open' && was !== 'open') untracked(told);
    was = is;
  });
}
