/** How the forest comes from the server: whole at first, then by events, and what lies deeper when it is asked for. */
import { query, Refusal } from '../graphql.js';
import { signal } from '../html.js';
import { listen, start, stopLive } from '../live.js';
import { sayRefusal } from '../shell/toasts.js';
import { Forest, NONE, SKY } from './forest.js';
import { births, changed, dropForest, forest, replaceForest } from './map.js';

const PAGE = 1_000;
const WAITS_MS = [300, 1_000, 3_000, 10_000];
const RECOUNT_MS = 300;
const MOST = 100_000;
// Rows of deleted stars are used no more: so many beyond what lives, and the map is taken anew.
const DEAD_ROWS = 10_000;

const SNAPSHOT = `{ space { sessionCount } starMap(maxNodes: ${MOST}) { nodeCount truncated eventSeq columns } }`;
const STAR = `id parentId label status role depth index childCount turnCount sourceSessionId lastActiveAt
  refs(first: 20) { id } referencedBy(first: 20) { id }`;
const CHILDREN = `query Children($parent: ID, $first: Int!, $after: Int!) {
  getChildren(parentId: $parent, first: $first, after: $after) { ${STAR} }
}`;
const PATH = `query Path($id: ID!) { topologyNode(id: $id) { ${STAR} ancestors { ${STAR} } } }`;
const COUNTS = 'query Counts($ids: [ID!]!) { topologyNodes(ids: $ids) { id childCount } space { sessionCount } }';

/** Why the map is not here yet. @type {import('../../vendor/signals.js').Signal<Refusal | null>} */
export const failure = signal(null);
/** Stars whose children are being read, by id; '' for the sky. @type {import('../../vendor/signals.js').Signal<ReadonlySet<string>>} */
export const reading = signal(new Set());

/** How far the children of a star were read: the index of the last one. @type {Map<string, number>} */
let readTo = new Map();
/** @type {Set<string>} */
const stale = new Set();
let tries = 0;
/** Counts what was asked for: of two snapshots the later counts. */
let latest = 0;
let isRenewing = false;
let timer = 0;

/** Loads the map and follows it from there on; tries again by itself until `stopMap`. */
export async function loadMap() {
  clearTimeout(timer);
  const mine = ++latest;
  try {
    const { space, starMap } = await query(SNAPSHOT);
    if (mine !== latest) return;
    const next = Forest.fromColumns(starMap.columns);
    // Levels come whole, but the first: of more roots than that the number is not told, only that of all sessions.
    if (starMap.truncated && next.loaded[SKY] === MOST) next.recount(SKY, space.sessionCount);
    readTo = new Map();
    stale.clear();
    replaceForest(next);
    failure.value = null;
    start(starMap.eventSeq, again);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (mine === latest) again(error);
  }
}

/** @param {Refusal} refusal also where the events since were pruned: the map is taken anew */
function again(refusal) {
  failure.value = refusal;
  // With another key the page loads the map itself.
  if (refusal.code === 'UNAUTHENTICATED') return;
  timer = window.setTimeout(loadMap, WAITS_MS[Math.min(tries++, WAITS_MS.length - 1)]);
}

/** Follows the map no more, and forgets it: with another key it is that of another Space. */
export function stopMap() {
  latest += 1;
  tries = 0;
  clearTimeout(timer);
  stopLive();
  stale.clear();
  failure.value = null;
  dropForest();
}

listen((event) => {
  const stars = forest.value;
  if (!stars) return;
  tries = 0;
  const { born, stale: uncounted } = stars.apply(event);
  if (born !== undefined) births.set(born, performance.now());
  if (uncounted !== undefined) recountSoon(uncounted);
  changed();
  if (stars.size > 2 * stars.count + DEAD_ROWS) renew();
});

async function renew() {
  if (isRenewing) return;
  isRenewing = true;
  try {
    await loadMap();
  } finally {
    isRenewing = false;
  }
}

/** @param {string} id a star of whose children some are not here: their number is asked, once for many events */
function recountSoon(id) {
  if (stale.size === 0) setTimeout(() => recount().catch(sayRefusal), RECOUNT_MS);
  stale.add(id);
}

async function recount() {
  const stars = forest.value;
  if (!stars || stale.size === 0) return;
  const [ids, later] = [[...stale].slice(0, PAGE), [...stale].slice(PAGE)];
  stale.clear();
  later.forEach(recountSoon);
  const { topologyNodes, space } = await query(COUNTS, { ids: ids.filter((id) => id !== '') });
  if (forest.value !== stars) return;
  for (const node of topologyNodes) {
    const row = node ? stars.find(node.id) : NONE;
    if (row !== NONE) stars.recount(row, node.childCount);
  }
  if (ids.includes('')) stars.recount(SKY, space.sessionCount);
  changed();
}

/**
 * Reads the next children of a star, up to a thousand.
 * @param {number} row
 */
export async function readChildren(row) {
  const stars = /** @type {Forest} */ (forest.value);
  const id = stars.id[row];
  if (reading.value.has(id)) return;
  reading.value = new Set([...reading.value, id]);
  try {
    const { getChildren: nodes } = await query(CHILDREN, { parent: id || null, first: PAGE, after: readTo.get(id) ?? -1 });
    // The map may have been taken anew meanwhile, or the star be gone.
    if (forest.value !== stars || !stars.alive[row]) return;
    for (const node of nodes) stars.add(node);
    if (nodes.length > 0) readTo.set(id, nodes.at(-1).index);
    if (nodes.length < PAGE) stars.recount(row, stars.loaded[row]);
    changed();
  } catch (error) {
    sayRefusal(error);
  } finally {
    reading.value = new Set([...reading.value].filter((other) => other !== id));
  }
}

/**
 * The row of a star, read with its path where it is not here.
 * @param {string} id
 * @returns {Promise<number>} NONE where there is no such star
 */
export async function reach(id) {
  const stars = forest.value;
  if (!stars) return NONE;
  if (stars.find(id) !== NONE) return stars.find(id);
  const { topologyNode: node } = await query(PATH, { id });
  if (!node) return NONE;
  // The map may have been taken anew meanwhile.
  if (forest.value !== stars) return reach(id);
  for (const above of node.ancestors) stars.add(above);
  const row = stars.add(node);
  changed();
  return row;
}
