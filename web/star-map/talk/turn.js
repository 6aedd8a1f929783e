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
 *   lost: (refusal: import('../graphql.js').Refusal) => void,
 * }} Heard
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
    this.stop = () => {};
  }

  /** @param {Heard} heard */
  follow(heard) {
    let seq = 0;
    const stop = subscribe(FOLLOW, () => ({ turnId: this.id, after: seq }), {
      next: ({ turnEvents: event }) => {
        seq = event.seq;
        this.#hear(event, heard);
      },
      error: heard.lost,
      complete: () => {},
    });
    this.stop = () => {
      clearTimeout(this.timer);
      stop();
    };
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
    const answer = await query(CONFIRM, { turnId: this.id, toolCallId, approve, reason: reason || null });
    this.#wait(answer.confirmToolCall);
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
      query(PENDING, { id: this.id }).then(({ turn }) => this.#wait(turn)).catch(heard.lost);
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
  }

  /** @param {{pendingToolCalls: {id: string}[]}} turn */
  #wait({ pendingToolCalls }) {
    this.pending.value = pendingToolCalls.map((call) => call.id);
  }
}
