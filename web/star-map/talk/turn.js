/** A turn as it runs: its text so far, its tool calls, what it asks; followed from anywhere, at any time. */
import { query, subscribe } from '../graphql.js';
import { signal } from '../html.js';
import { CANCEL, CONFIRM, FOLLOW, PENDING } from './documents.js';

const DRAW_MS = 80;

/** @typedef {{code: string, message: string, retryable: boolean}} TurnError */
/**
 * @typedef {{id: string, status: string, stopReason: string | null, pendingToolCalls: {id: string}[], error: TurnError | null}} TurnFacts
 */
/**
 * @typedef {{state: 'running'} | {state: 'done', isError: boolean, content: string, durationMs: number}} CallFacts
 */
/**
 * @typedef {{
 *   stored: (message: import('./transcript.js').Message) => void,
 *   ended: (turn: TurnFacts) => void,
 *   broken: () => void,
 *   lost: (refusal: import('../graphql.js').Refusal) => void,
 * }} Heard `broken`: the stream came to its end, the turn did not
 */

export class Turn {
  /** @param {TurnFacts} turn */
  constructor({ id, pendingToolCalls }) {
    this.id = id;
    /** The reply that is being written. */
    this.text = signal('');
    /** What is known of its tool calls, by their ids. */
    this.calls = signal(/** @type {ReadonlyMap<string, CallFacts>} */ (new Map()));
    /** Calls that wait for a yes. */
    this.pending = signal(pendingToolCalls.map((call) => call.id));
    this.isStopping = signal(false);
    this.written = '';
    this.timer = 0;
    this.looks = 0;
    this.isOver = false;
    this.unfollow = () => {};
  }

  /** @param {Heard} heard */
  follow(heard) {
    let seq = 0;
    this.unfollow = subscribe(FOLLOW, () => ({ turnId: this.id, after: seq }), {
      next: ({ turnEvents: event }) => {
        seq = event.seq;
        this.#hear(event, heard);
      },
      error: (refusal) => this.#lost(refusal, heard),
      complete: () => {
        this.stop();
        heard.broken();
      },
    });
  }

  /** Follows it no more; what it asked is no longer asked here. */
  stop() {
    this.isOver = true;
    this.pending.value = [];
    clearTimeout(this.timer);
    this.unfollow();
  }

  async cancel() {
    this.isStopping.value = true;
    try {
      await query(CANCEL, { id: this.id });
    } finally {
      this.isStopping.value = false;
    }
  }

  /** @param {string} toolCallId @param {boolean} approve @param {string} [reason] */
  async confirm(toolCallId, approve, reason) {
    try {
      const answer = await query(CONFIRM, { turnId: this.id, toolCallId, approve, reason: reason || null });
      // What was asked before this answer is out of date.
      this.looks += 1;
      this.#wait(answer.confirmToolCall);
    } catch (error) {
      // Somebody else may have answered it.
      await this.look();
      throw error;
    }
  }

  /** Asks what is still asked: an answer that is given elsewhere is told only once all are answered. */
  async look() {
    const mine = ++this.looks;
    const { turn } = await query(PENDING, { id: this.id });
    if (mine === this.looks && turn) this.#wait(turn);
  }

  /** @param {any} event @param {Heard} heard */
  #hear(event, heard) {
    if (event.__typename === 'TextDelta') this.#write(this.written + event.text);
    if (event.__typename === 'ToolCallStarted') this.#call(event.toolCall.id, { state: 'running' });
    if (event.__typename === 'ToolCallFinished') {
      const { toolCallId, isError, content, durationMs } = event;
      this.#call(toolCallId, { state: 'done', isError, content, durationMs });
    }
    if (event.__typename === 'ConfirmationRequested') {
      this.#forget(event.toolCall.id);
      this.look().catch((refusal) => this.#lost(refusal, heard));
    }
    if (event.__typename === 'MessageStored') {
      heard.stored(event.message);
      if (event.message.role === 'ASSISTANT') this.#write('', true);
    }
    if (event.__typename === 'TurnEnded') {
      this.stop();
      heard.ended(event.turn);
    }
  }

  /** @param {import('../graphql.js').Refusal} refusal @param {Heard} heard */
  #lost(refusal, heard) {
    if (this.isOver) return;
    this.stop();
    heard.lost(refusal);
  }

  /** Shows text, at most every DRAW_MS. @param {string} text @param {boolean} [atOnce] */
  #write(text, atOnce = false) {
    this.written = text;
    if (atOnce) {
      clearTimeout(this.timer);
      this.timer = 0;
      this.text.value = text;
    } else if (!this.timer) {
      this.timer = setTimeout(() => {
        this.timer = 0;
        this.text.value = this.written;
      }, DRAW_MS);
    }
  }

  /** @param {string} id @param {CallFacts} facts */
  #call(id, facts) {
    this.calls.value = new Map([...this.calls.value, [id, facts]]);
    this.pending.value = this.pending.value.filter((one) => one !== id);
  }

  /** Another round may give a call the id of one that is done. @param {string} id */
  #forget(id) {
    this.calls.value = new Map([...this.calls.value].filter(([one]) => one !== id));
  }

  /** @param {{pendingToolCalls: {id: string}[]}} turn */
  #wait({ pendingToolCalls }) {
    if (this.isOver) return;
    // What is told may be older than the events that were heard since.
    this.pending.value = pendingToolCalls.map((call) => call.id).filter((id) => !this.calls.value.has(id));
  }
}
