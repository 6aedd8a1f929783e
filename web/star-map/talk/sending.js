/**
 * What is written and what is on its way. A message goes out with a key of its own, kept until the
 * server has it: sent again after a reload or a lost connection, it is still said once.
 */
import { Refusal, query } from '../graphql.js';
import { signal } from '../html.js';
import { reason } from '../shell/toasts.js';
import { START } from './documents.js';
import { newId } from './ids.js';
import { unsentOf } from './unsent.js';

/**
 * @typedef {{key: string, content: string, state: 'sending' | 'waiting' | 'busy' | 'lost'}} Outgoing
 *   waiting: for the running turn to end; busy: it was refused for one; lost: no answer came
 */

// After these the server may have the message all the same, or takes it later.
const LOST = new Set(['OFFLINE', 'UNAUTHENTICATED', 'STORE_UNAVAILABLE']);

export class Sending {
  /**
   * @param {string} id the session's
   * @param {{began: (turn: any) => void, busy: () => void}} heard
   */
  constructor(id, heard) {
    this.id = id;
    this.heard = heard;
    this.unsent = unsentOf(id);
    const { draft = '', outgoing = null } = this.unsent.get();
    this.draft = signal(draft);
    this.outgoing = signal(outgoing);
    /** Why the last message was not taken. */
    this.problem = signal('');
  }

  /** @param {string} text */
  write(text) {
    this.draft.value = text;
    this.#keep();
  }

  /** Sends the draft. */
  async send() {
    const content = this.draft.value;
    if (!content.trim() || this.outgoing.value) return;
    this.write('');
    await this.say(content);
  }

  /** @param {string} content */
  async say(content) {
    if (this.outgoing.value) return;
    this.#set({ key: newId(), content, state: 'sending' });
    await this.deliver('REJECT');
  }

  /** Sends what is on its way, again. @param {'REJECT' | 'QUEUE' | 'INTERRUPT'} whenBusy */
  async deliver(whenBusy) {
    const outgoing = this.outgoing.value;
    if (!outgoing) return;
    const { key, content } = outgoing;
    this.problem.value = '';
    this.#set({ key, content, state: whenBusy === 'QUEUE' ? 'waiting' : 'sending' });
    const input = { sessionId: this.id, content, whenBusy, idempotencyKey: key };
    try {
      const { startTurn } = await query(START, { input });
      this.heard.began(startTurn);
      if (this.outgoing.value?.key === key) this.#set(null);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (this.outgoing.value?.key === key) this.#refused(error);
    }
  }

  /** Sends again what got no answer. */
  async deliverLost() {
    if (this.outgoing.value?.state === 'lost') await this.deliver('REJECT');
  }

  /** Takes what is on its way back to be written on. */
  takeBack() {
    const { outgoing, draft } = this;
    this.write([outgoing.value?.content, draft.value].filter(Boolean).join('\n'));
    this.#set(null);
  }

  /** @param {Refusal} refusal */
  #refused(refusal) {
    const state = refusal.code === 'SESSION_BUSY' ? 'busy' : 'lost';
    if (state === 'busy' || LOST.has(refusal.code)) {
      this.#set({ .../** @type {Outgoing} */ (this.outgoing.value), state });
      if (state === 'busy') this.heard.busy();
    } else {
      this.takeBack();
      this.problem.value = reason(refusal);
    }
  }

  /** @param {Outgoing | null} outgoing */
  #set(outgoing) {
    this.outgoing.value = outgoing;
    this.#keep();
  }

  #keep() {
    this.unsent.set({ draft: this.draft.value, outgoing: this.outgoing.value });
  }
}
