/**
 * The forest in memory: one row a star, in columns. Row 0 is the sky itself, the parent of all
 * roots; a parent's row is always lower than its children's. Rows are never used again, so that a
 * row of a deleted star is known by `alive`.
 */

/** @typedef {import('../live.js').TopologyEvent} TopologyEvent */
/**
 * A star as the server tells it.
 * @typedef {{id: string, parentId: string | null, label: string, status: string, role: string, depth: number,
 *   index: number, childCount: number, turnCount: number, sourceSessionId: string | null, lastActiveAt: string,
 *   refs?: {id: string}[], referencedBy?: {id: string}[]}} StarNode
 */
/**
 * `starMap.columns`: see schema.graphql.
 * @typedef {{id: string[], parent: number[], source: number[], label: string[], status: number[], role: number[],
 *   depth: number[], index: number[], childCount: number[], turnCount: number[], lastActiveAt: number[],
 *   refs: [number, number][]}} Columns
 */

export const SKY = 0;
export const NONE = -1;
export const ARCHIVED = 1;
export const MAIN = 1;

export class Forest {
  /** @param {number} [room] rows to have room for */
  constructor(room = 64) {
    /** Rows in use, dead ones among them. @type {number} */
    this.size = 0;
    /** Stars that are there. @type {number} */
    this.count = 0;
    /** Grows where stars come, go or change their status: what else changes moves none. */
    this.shape = 0;
    /** @type {string[]} */
    this.id = [];
    /** @type {string[]} */
    this.label = [];
    /** @type {Int32Array} */
    this.parent = new Int32Array(room);
    this.source = new Int32Array(room);
    this.firstChild = new Int32Array(room);
    this.lastChild = new Int32Array(room);
    this.next = new Int32Array(room);
    this.previous = new Int32Array(room);
    this.index = new Int32Array(room);
    this.depth = new Int32Array(room);
    this.childCount = new Int32Array(room);
    this.loaded = new Int32Array(room);
    this.turnCount = new Int32Array(room);
    this.status = new Uint8Array(room);
    this.role = new Uint8Array(room);
    this.alive = new Uint8Array(room);
    this.lastActive = new Float64Array(room);
    /** @type {Map<string, number>} */
    this.rowOf = new Map();
    /** Rows that a row refers to. @type {Map<number, Set<number>>} */
    this.refs = new Map();
    /** @type {Map<number, Set<number>>} */
    this.referencedBy = new Map();
    /** Rows whose source is not here yet, by its id. @type {Map<string, number[]>} */
    this.awaiting = new Map();
    this.#append('', NONE, { label: '', index: 0, depth: -1, status: 0, role: 0, childCount: 0, turnCount: 0, lastActive: 0 });
  }

  /** @param {Columns} columns @returns {Forest} */
  static fromColumns(columns) {
    const count = columns.id.length;
    const forest = new Forest(count + 64);
    for (let at = 0; at < count; at++) {
      forest.#append(columns.id[at], columns.parent[at] + 1, {
        label: columns.label[at],
        index: columns.index[at],
        depth: columns.depth[at],
        status: columns.status[at],
        role: columns.role[at],
        childCount: columns.childCount[at],
        turnCount: columns.turnCount[at],
        lastActive: columns.lastActiveAt[at],
      });
    }
    for (let at = 0; at < count; at++) forest.source[at + 1] = columns.source[at] === NONE ? NONE : columns.source[at] + 1;
    for (const [from, to] of columns.refs) forest.#link(from + 1, to + 1);
    return forest;
  }

  /** @param {string} id @returns {number} its row, or NONE */
  find(id) {
    return this.rowOf.get(id) ?? NONE;
  }

  /** @param {number} row @returns {number} how many of its children are not here */
  hidden(row) {
    return this.childCount[row] - this.loaded[row];
  }

  /** @param {number} row @param {number} childCount how many children it has, as read just now */
  recount(row, childCount) {
    this.childCount[row] = Math.max(childCount, this.loaded[row]);
  }

  /** @param {number} row @returns {number[]} in their order */
  children(row) {
    const found = [];
    for (let child = this.firstChild[row]; child !== NONE; child = this.next[child]) found.push(child);
    return found;
  }

  /** @param {number} row @returns {number[]} what is tied to it: parent, children, refs both ways, source */
  neighbours(row) {
    const tied = [...this.children(row), ...(this.refs.get(row) ?? []), ...(this.referencedBy.get(row) ?? [])];
    if (this.parent[row] > SKY) tied.push(this.parent[row]);
    if (this.forkSource(row) !== NONE) tied.push(this.source[row]);
    return tied;
  }

  /** @param {number} row @returns {number} what it was forked from where that is another than its parent, or NONE */
  forkSource(row) {
    const source = this.source[row];
    return source !== NONE && source !== this.parent[row] && this.alive[source] ? source : NONE;
  }

  /**
   * A star that was read, under a parent that is here already. What is known of it is renewed.
   * @param {StarNode} node
   * @returns {number} its row
   */
  add(node) {
    const known = this.find(node.id);
    if (known !== NONE) {
      this.#renew(known, node);
      return known;
    }
    const row = this.#grow(node, node.childCount);
    for (const { id } of node.refs ?? []) if (this.rowOf.has(id)) this.#link(row, this.find(id));
    for (const { id } of node.referencedBy ?? []) if (this.rowOf.has(id)) this.#link(this.find(id), row);
    return row;
  }

  /**
   * An event of the map; one that already shows changes nothing.
   * @param {TopologyEvent} event
   * @returns {{born?: number, stale?: string}} the row of a star that is new; or the id ('' for the
   *   sky) of one whose children are not all here, so that their number must be asked
   */
  apply({ type, nodeId, data, node }) {
    if (type === 'SESSION_CREATED' || type === 'SESSION_FORKED') return this.#arrive(/** @type {StarNode | null} */ (node));
    if (type === 'SESSION_DELETED') return this.#remove(nodeId, data.ids, data.parentId ?? '');
    const row = this.find(nodeId);
    if (row === NONE) return {};
    if (node) this.#renew(row, /** @type {StarNode} */ (node));
    const other = this.find(data?.toId ?? '');
    if (type === 'REF_ADDED' && other > SKY) this.#link(row, other);
    if (type === 'REF_REMOVED' && other > SKY) this.#unlink(row, other);
    return {};
  }

  /** @param {StarNode | null} node null where it is deleted by now */
  #arrive(node) {
    if (!node) return {};
    const known = this.find(node.id);
    const parent = this.find(node.parentId ?? '');
    if (known !== NONE) this.#renew(known, node);
    if (known !== NONE || parent === NONE) return {};
    if (this.hidden(parent) > 0) return { stale: this.id[parent] };
    // Its own children come by events of their own: they are not counted before.
    return { born: this.#grow(node, 0) };
  }

  /** @param {string} id @param {string[]} ids @param {string} parentId */
  #remove(id, ids, parentId) {
    const parent = this.find(parentId);
    const stale = parent !== NONE && this.hidden(parent) > 0 ? { stale: parentId } : {};
    const row = this.find(id);
    if (row !== NONE) this.#cut(row);
    for (const gone of [id, ...ids]) this.#bury(gone);
    return stale;
  }

  /** @param {number} row from among its siblings */
  #cut(row) {
    const parent = this.parent[row];
    const [before, after] = [this.previous[row], this.next[row]];
    if (before === NONE) this.firstChild[parent] = after;
    else this.next[before] = after;
    if (after === NONE) this.lastChild[parent] = before;
    else this.previous[after] = before;
    this.loaded[parent] -= 1;
    this.shape += 1;
    this.childCount[parent] -= 1;
  }

  /** @param {string} id */
  #bury(id) {
    const row = this.find(id);
    if (row <= SKY) return;
    for (const to of this.refs.get(row) ?? []) this.referencedBy.get(to)?.delete(row);
    for (const from of this.referencedBy.get(row) ?? []) this.refs.get(from)?.delete(row);
    this.refs.delete(row);
    this.referencedBy.delete(row);
    this.alive[row] = 0;
    this.rowOf.delete(id);
    this.count -= 1;
  }

  /** @param {number} row @param {StarNode} node */
  #renew(row, node) {
    this.label[row] = node.label;
    const status = node.status === 'ARCHIVED' ? ARCHIVED : 0;
    if (status !== this.status[row]) this.shape += 1;
    this.status[row] = status;
    this.role[row] = node.role === 'MAIN' ? MAIN : 0;
    this.turnCount[row] = node.turnCount;
    this.lastActive[row] = Date.parse(node.lastActiveAt);
    // Where all children are here, what follows of them comes by events: a later count would hide one.
    if (this.hidden(row) > 0) this.recount(row, node.childCount);
  }

  /** @param {StarNode} node @param {number} childCount */
  #grow(node, childCount) {
    const row = this.#append(node.id, this.find(node.parentId ?? ''), {
      label: node.label,
      index: node.index,
      depth: node.depth,
      status: node.status === 'ARCHIVED' ? ARCHIVED : 0,
      role: node.role === 'MAIN' ? MAIN : 0,
      childCount,
      turnCount: node.turnCount,
      lastActive: Date.parse(node.lastActiveAt),
    });
    const parent = this.parent[row];
    this.recount(parent, this.childCount[parent]);
    if (node.sourceSessionId) this.#cameFrom(row, node.sourceSessionId);
    for (const waiting of this.awaiting.get(node.id) ?? []) this.source[waiting] = row;
    this.awaiting.delete(node.id);
    return row;
  }

  /** @param {number} row @param {string} sourceId */
  #cameFrom(row, sourceId) {
    this.source[row] = this.find(sourceId);
    if (this.source[row] !== NONE) return;
    this.awaiting.set(sourceId, [...(this.awaiting.get(sourceId) ?? []), row]);
  }

  /**
   * @param {string} id
   * @param {number} parent
   * @param {{label: string, index: number, depth: number, status: number, role: number, childCount: number,
   *   turnCount: number, lastActive: number}} star
   */
  #append(id, parent, star) {
    /** @type {number} */
    const row = this.size;
    if (row === this.parent.length) this.#widen();
    this.size += 1;
    this.id[row] = id;
    this.rowOf.set(id, row);
    this.label[row] = star.label;
    this.parent[row] = parent;
    this.source[row] = this.firstChild[row] = this.lastChild[row] = this.next[row] = this.previous[row] = NONE;
    this.index[row] = star.index;
    this.depth[row] = star.depth;
    this.status[row] = star.status;
    this.role[row] = star.role;
    this.childCount[row] = star.childCount;
    this.turnCount[row] = star.turnCount;
    this.lastActive[row] = star.lastActive;
    this.alive[row] = 1;
    if (parent !== NONE) this.#hang(row, parent);
    return row;
  }

  /** @param {number} row @param {number} parent behind those of a lower index; nearly always the last */
  #hang(row, parent) {
    let before = this.lastChild[parent];
    while (before !== NONE && this.index[before] > this.index[row]) before = this.previous[before];
    const after = before === NONE ? this.firstChild[parent] : this.next[before];
    this.previous[row] = before;
    this.next[row] = after;
    if (before === NONE) this.firstChild[parent] = row;
    else this.next[before] = row;
    if (after === NONE) this.lastChild[parent] = row;
    else this.previous[after] = row;
    this.loaded[parent] += 1;
    this.count += 1;
    this.shape += 1;
    if (parent === SKY) this.recount(SKY, this.childCount[SKY]);
  }

  #widen() {
    const columns = /** @type {Record<string, any>} */ (this);
    for (const [name, column] of Object.entries(columns)) {
      if (!ArrayBuffer.isView(column)) continue;
      const wider = new /** @type {any} */ (column.constructor)(this.size * 2);
      wider.set(column);
      columns[name] = wider;
    }
  }

  /** @param {number} from @param {number} to */
  #link(from, to) {
    into(this.refs, from).add(to);
    into(this.referencedBy, to).add(from);
  }

  /** @param {number} from @param {number} to */
  #unlink(from, to) {
    this.refs.get(from)?.delete(to);
    this.referencedBy.get(to)?.delete(from);
  }
}

/** @param {Map<number, Set<number>>} sets @param {number} key @returns {Set<number>} */
function into(sets, key) {
  let found = sets.get(key);
  if (!found) sets.set(key, (found = new Set()));
  return found;
}
