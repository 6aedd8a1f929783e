/**
 * A window on a session's messages: some pages of them in a row, loaded from either end. What is
 * far from the reader is let go again, so that 20,000 messages cost no more than 200.
 */
import { query } from '../graphql.js';
import { computed, signal } from '../html.js';
import { MESSAGES } from './documents.js';

const PAGE = 30;
const KEPT = 150;

/**
 * @typedef {{
 *   id: string, seq: number, role: 'USER' | 'ASSISTANT' | 'TOOL', content: string, parts: any,
 *   state: 'COMPLETE' | 'TRUNCATED' | 'CANCELLED', toolCalls: {id: string, name: string, arguments: any}[],
 *   toolCallId: string | null, toolName: string | null, isError: boolean, sessionId: string,
 *   model: string | null, turnId: string | null, createdAt: string,
 *   usage: {inputTokens: number, outputTokens: number, cacheReadTokens: number, cacheWriteTokens: number} | null,
 *   cursor?: string,
 * }} Message `cursor` is missing where it was heard of by an event
 */

export class Transcript {
  /** @param {string} id the session's */
  constructor(id) {
    this.id = id;
    /** Oldest first. */
    this.messages = signal(/** @type {Message[]} */ ([]));
    this.hasOlder = signal(false);
    this.hasNewer = signal(false);
    /** Whether anything was loaded yet. */
    this.loaded = signal(false);
    this.isEmpty = computed(() => this.loaded.value && this.messages.value.length === 0);
    /** @type {Promise<unknown>} */
    this.queue = Promise.resolve();
    this.reading = false;
  }

  /** The newest page, in place of what is there. */
  newest() {
    return this.#inTurn(async () => {
      const { messages, pageInfo } = await this.#page({ last: PAGE });
      this.messages.value = messages;
      this.hasOlder.value = pageInfo.hasPreviousPage;
      this.hasNewer.value = false;
      this.loaded.value = true;
    });
  }

  /** One page more at the start; nothing where one is on its way. */
  async older() {
    if (this.reading || !this.hasOlder.value) return;
    await this.#inTurn(async () => {
      const { messages, pageInfo } = await this.#page({ last: PAGE, before: this.messages.value[0]?.cursor });
      const all = merged(this.messages.value, messages);
      this.hasOlder.value = pageInfo.hasPreviousPage;
      this.hasNewer.value ||= all.length > KEPT;
      this.messages.value = all.slice(0, KEPT);
    });
  }

  /** One page more at the end; nothing where one is on its way. */
  async newer() {
    if (this.reading || !this.hasNewer.value) return;
    await this.#inTurn(() => this.#forward());
  }

  /** All that came since at the end, where the end is in the window. */
  async catchUp() {
    if (!this.loaded.value) return this.newest();
    await this.#inTurn(async () => {
      if (this.hasNewer.value) return;
      do await this.#forward();
      while (this.hasNewer.value);
    });
  }

  /**
   * Takes in what an event told of.
   * @param {Message} message
   */
  async add(message) {
    if (!this.loaded.value) return this.catchUp();
    if (this.hasNewer.value) return;
    const end = this.messages.value.at(-1)?.seq ?? 0;
    if (message.seq > end + 1) await this.catchUp();
    else if (message.seq === end + 1) this.#set([...this.messages.value, message]);
  }

  async #forward() {
    const known = this.messages.value.findLast((message) => message.cursor !== undefined);
    const { messages, pageInfo } = await this.#page({ first: PAGE, after: known?.cursor });
    this.hasNewer.value = pageInfo.hasNextPage;
    this.#set(merged(this.messages.value, messages));
  }

  /** @param {Message[]} all */
  #set(all) {
    this.hasOlder.value ||= all.length > KEPT;
    this.messages.value = all.slice(-KEPT);
  }

  /** @param {Record<string, any>} place */
  async #page(place) {
    const { session } = await query(MESSAGES, { id: this.id, ...place });
    const { edges, pageInfo } = session?.messages ?? { edges: [], pageInfo: {} };
    const messages = edges.map((/** @type {any} */ edge) => ({ ...edge.node, cursor: edge.cursor }));
    return { messages, pageInfo };
  }

  /**
   * One after another, so that pages join.
   * @param {() => Promise<void>} job
   */
  async #inTurn(job) {
    const before = this.queue;
    const run = async () => {
      this.reading = true;
      await job().finally(() => (this.reading = false));
    };
    const mine = before.then(run, run);
    this.queue = mine.catch(() => {});
    await mine;
  }
}

/**
 * Both, in order, each message once: as it was loaded rather than as an event told of it.
 * @param {Message[]} known
 * @param {Message[]} loaded
 */
function merged(known, loaded) {
  const bySeq = new Map([...known, ...loaded].map((message) => [message.seq, message]));
  return [...bySeq.values()].sort((one, other) => one.seq - other.seq);
}

/**
 * @typedef {{head: Message, results: Message[], end: number, isWhole: boolean}} Group
 *   a message, with what its tool calls gave; `end` is the seq of its last one
 */

/**
 * Messages as they are shown, and as they may be cut.
 * @param {Message[]} messages
 * @returns {Group[]}
 */
export function groupsOf(messages) {
  /** @type {Group[]} */
  const groups = [];
  for (const message of messages) {
    const last = groups.at(-1);
    if (message.role === 'TOOL' && last && last.head.toolCalls.length > last.results.length) {
      last.results.push(message);
      last.end = message.seq;
      last.isWhole = last.results.length === last.head.toolCalls.length;
    } else {
      const isWhole = message.role !== 'TOOL' && message.toolCalls.length === 0;
      groups.push({ head: message, results: [], end: message.seq, isWhole });
    }
  }
  return groups;
}
