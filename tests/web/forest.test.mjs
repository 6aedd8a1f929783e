import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Forest, NONE, SKY } from '../../web/star-map/forest/forest.js';

/** r ── a ── c, r ── b; c came from b; a refers to b. */
const COLUMNS = {
  id: ['r', 'a', 'b', 'c'],
  parent: [-1, 0, 0, 1],
  source: [-1, 0, 0, 2],
  label: ['R', 'A', 'B', 'C'],
  status: [0, 0, 1, 0],
  role: [1, 0, 0, 0],
  depth: [0, 1, 1, 2],
  index: [0, 0, 1, 0],
  childCount: [2, 1, 0, 0],
  turnCount: [3, 0, 1, 2],
  lastActiveAt: [4, 3, 2, 1],
  refs: [[1, 2]],
};

function node(id, parentId, index, more = {}) {
  return {
    id, parentId, label: id.toUpperCase(), status: 'ACTIVE', role: 'STANDARD', depth: parentId === null ? 0 : 1, index,
    childCount: 0, turnCount: 0, sourceSessionId: null, lastActiveAt: '2026-01-01T00:00:00Z', ...more,
  };
}

function event(type, nodeId, told, data = {}) {
  return { seq: 1, type, nodeId, node: told, data, at: '' };
}

/** All that a forest tells of its stars, by id. */
function told(forest) {
  const rows = [...forest.rowOf.values()];
  return Object.fromEntries(rows.map((row) => [forest.id[row], {
    label: forest.label[row], status: forest.status[row], turns: forest.turnCount[row],
    parent: forest.id[forest.parent[row]] ?? null, children: forest.children(row).map((child) => forest.id[child]),
    source: forest.id[forest.forkSource(row)] ?? null, hidden: forest.hidden(row),
    refs: [...(forest.refs.get(row) ?? [])].map((to) => forest.id[to]),
  }]));
}

test('a snapshot becomes a forest', () => {
  const forest = Forest.fromColumns(COLUMNS);
  assert.equal(forest.count, 4);
  assert.deepEqual(told(forest), {
    '': { label: '', status: 0, turns: 0, parent: null, children: ['r'], source: null, hidden: 0, refs: [] },
    r: { label: 'R', status: 0, turns: 3, parent: '', children: ['a', 'b'], source: null, hidden: 0, refs: [] },
    a: { label: 'A', status: 0, turns: 0, parent: 'r', children: ['c'], source: null, hidden: 0, refs: ['b'] },
    b: { label: 'B', status: 1, turns: 1, parent: 'r', children: [], source: null, hidden: 0, refs: [] },
    c: { label: 'C', status: 0, turns: 2, parent: 'a', children: [], source: 'b', hidden: 0, refs: [] },
  });
  assert.deepEqual(forest.neighbours(forest.find('b')).map((row) => forest.id[row]).sort(), ['a', 'r']);
});

test('events change the forest once, however often they are told', () => {
  const events = [
    event('SESSION_FORKED', 'd', node('d', 'b', 0, { depth: 2, sourceSessionId: 'c' }), { sourceSessionId: 'c' }),
    event('SESSION_CREATED', 'q', node('q', null, 1)),
    event('SESSION_UPDATED', 'a', node('a', 'r', 0, { label: 'New', childCount: 5 })),
    event('SESSION_ARCHIVED', 'a', node('a', 'r', 0, { label: 'New', status: 'ARCHIVED' })),
    event('SESSION_UNARCHIVED', 'b', node('b', 'r', 1)),
    event('TURN_ENDED', 'q', node('q', null, 1, { turnCount: 7 })),
    event('REF_ADDED', 'd', node('d', 'b', 0, { sourceSessionId: 'c' }), { toId: 'q' }),
    event('REF_REMOVED', 'a', node('a', 'r', 0, { label: 'New', status: 'ARCHIVED' }), { toId: 'b' }),
    event('MEMORY_UPDATED', 'unknown', null),
    event('SESSION_CREATED', 'gone', null),
    event('SESSION_DELETED', 'c', null, { ids: ['c'], parentId: 'a' }),
  ];
  const forest = Forest.fromColumns(COLUMNS);
  const outcomes = events.map((each) => forest.apply(each));
  const once = told(forest);
  assert.deepEqual(outcomes.map(({ born }) => (born === undefined ? null : forest.id[born])), ['d', 'q', ...Array(9).fill(null)]);
  assert.deepEqual(once.d, { label: 'D', status: 0, turns: 0, parent: 'b', children: [], source: null, hidden: 0, refs: ['q'] });
  assert.deepEqual(once.a, { label: 'New', status: 1, turns: 0, parent: 'r', children: [], source: null, hidden: 0, refs: [] });
  assert.equal(once.q.turns, 7);
  assert.equal(once.c, undefined);
  assert.equal(forest.count, 5);
  for (const each of [...events.slice(2, 10), ...events]) forest.apply(each);
  assert.deepEqual(told(forest), once);
});

test('of a star whose children are not all here new ones are counted, not shown', () => {
  const forest = Forest.fromColumns({ ...COLUMNS, childCount: [2, 1, 9, 0] });
  const b = forest.find('b');
  assert.equal(forest.hidden(b), 9);
  assert.deepEqual(forest.apply(event('SESSION_CREATED', 'b9', node('b9', 'b', 9))), { stale: 'b' });
  assert.equal(forest.find('b9'), NONE);
  assert.deepEqual(forest.apply(event('SESSION_DELETED', 'b0', null, { ids: ['b0'], parentId: 'b' })), { stale: 'b' });
  forest.recount(b, 3);
  for (const [id, index] of [['b3', 3], ['b1', 1], ['b2', 2]]) forest.add(node(id, 'b', index));
  assert.deepEqual(forest.children(b).map((row) => forest.id[row]), ['b1', 'b2', 'b3']);
  assert.equal(forest.hidden(b), 0);
  forest.apply(event('SESSION_CREATED', 'b4', node('b4', 'b', 4)));
  assert.deepEqual([forest.children(b).length, forest.childCount[b], forest.hidden(b)], [4, 4, 0]);
});

test('what was deleted takes its subtree and its links along, and the source of others', () => {
  const forest = Forest.fromColumns(COLUMNS);
  forest.apply(event('REF_ADDED', 'r', node('r', null, 0), { toId: 'c' }));
  forest.apply(event('SESSION_DELETED', 'a', null, { ids: ['a', 'c'], parentId: 'r' }));
  assert.deepEqual([...forest.rowOf.keys()], ['', 'r', 'b']);
  assert.deepEqual(told(forest).r.refs, []);
  assert.deepEqual(forest.children(forest.find('r')).map((row) => forest.id[row]), ['b']);
  forest.apply(event('SESSION_DELETED', 'r', null, { ids: ['r', 'b'], parentId: null }));
  assert.equal(forest.count, 0);
  assert.deepEqual(forest.children(SKY), []);
});

test('a source that comes later than its fork is found, and columns grow', () => {
  const forest = new Forest(2);
  for (let at = 0; at < 300; at++) forest.apply(event('SESSION_CREATED', `n${at}`, node(`n${at}`, null, at, { sourceSessionId: at === 0 ? 'n299' : null })));
  assert.equal(forest.count, 300);
  assert.equal(forest.id[forest.forkSource(forest.find('n0'))], 'n299');
  assert.deepEqual(forest.children(SKY).map((row) => forest.index[row]), Array.from({ length: 300 }, (_, at) => at));
});
