/** One session's conversation as it stands, kept up to date by events from wherever it is changed. */
import { Refusal, connection, query } from '../graphql.js';
import { effect, signal, untracked } from '../html.js';
import { listen } from '../live.js';
import { sayRefusal } from '../shell/toasts.js';
import { SAID, SESSION } from './documents.js';
import { Sending } from './sending.js';
import { Transcript } from './transcript.js';
import { Turn } from './turn.js';

/** @typedef {{id: string, label: string, status: 'ACTIVE' | 'ARCHIVED', node: {sourceSessionId: string | null} | null}} SessionFacts */

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
    /** Turns that were followed, by id: only they know how long tools took. */
    this.followed = new Map(/** @type {[string, Turn][]} */ ([]));
    this.sending = new Sending(id, {
      began: (turn) => this.began(turn),
      busy: () => this.refresh(),
    });
    /** Whether the reader is at the end and stays there as it grows. */
    this.atEnd = signal(true);
  }

  /** @returns {() => void} stops it */
  start() {
    this.isOpen = true;
    const seen = () => document.visibilityState === 'visible' && this.refresh();
    const stop = listen(({ nodeId }) => nodeId === this.id && this.refresh());
    const stopWatching = onceOpen(() => this.refresh());
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
    const { turn } = await query(SAID, { id: this.last.value?.id });
    await this.sending.say(turn.messages[0].content);
  }

  /** @param {import('./turn.js').TurnFacts} facts */
  #follow(facts) {
    if (!this.isOpen || this.turn.value?.id === facts.id) return;
    this.turn.value?.stop();
    const turn = new Turn(facts);
    this.turn.value = turn;
    this.last.value = null;
    this.followed.set(turn.id, turn);
    turn.follow({
      stored: (message) => void this.transcript.add(message).catch(sayRefusal),
      ended: (ended) => this.#ended(ended),
      lost: (refusal) => {
        this.turn.value = null;
        sayRefusal(refusal);
      },
    });
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
