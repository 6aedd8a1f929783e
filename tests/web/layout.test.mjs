import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Forest, SKY } from '../../web/star-map/forest/forest.js';
import { LINE, placeLabels, shortened } from '../../web/star-map/forest/labels.js';
import { SPACING, layout, shownRows } from '../../web/star-map/forest/layout.js';
import { pack } from '../../web/star-map/forest/pack.js';
import { linesOf, stepFrom } from '../../web/star-map/forest/rows.js';

/** A forest of `parents`, positions or -1, by levels. */
function grown(parents, status = () => 0) {
  const depth = [];
  for (const parent of parents) depth.push(parent < 0 ? 0 : depth[parent] + 1);
  const all = (value) => parents.map(value);
  return Forest.fromColumns({
    id: all((_, at) => `n${at}`), parent: parents, source: all(() => -1), label: all((_, at) => `star ${at}`),
    status: all((_, at) => status(at)), role: all(() => 0), depth, index: all((_, at) => at),
    childCount: all((_, at) => parents.filter((parent) => parent === at).length), turnCount: all(() => 1), lastActiveAt: all(() => 0), refs: [],
  });
}

function random(seed) {
  return () => ((seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31);
}

function nearest({ x, y }, rows) {
  let least = Infinity;
  for (const a of rows) for (const b of rows) if (a < b) least = Math.min(least, Math.hypot(x[a] - x[b], y[a] - y[b]));
  return least;
}

test('no star stands on another: trees, a wide one, a long chain', () => {
  const chance = random(5);
  const bushy = Array.from({ length: 600 }, (_, at) => (at < 40 || chance() < 0.1 ? -1 : Math.floor(chance() * at)));
  const wide = [-1, ...Array(500).fill(0)];
  for (const parents of [bushy, wide]) {
    const forest = grown(parents);
    const places = layout(forest, shownRows(forest, true));
    assert.ok(nearest(places, Array.from(parents, (_, at) => at + 1)) > SPACING / 8);
  }
  const chain = grown(Array.from({ length: 2_000 }, (_, at) => at - 1));
  const { x, y } = layout(chain, shownRows(chain, true));
  assert.ok(x.every(Number.isFinite) && y.every(Number.isFinite));
  const distances = Array.from({ length: 2_000 }, (_, at) => Math.hypot(x[at + 1] - x[1], y[at + 1] - y[1]));
  assert.ok(distances.every((distance, at) => at === 0 || distance > distances[at - 1]));
});

test('one more leaf moves no other tree', () => {
  const parents = [...Array(30).fill(-1), ...Array.from({ length: 600 }, (_, at) => at % 30)];
  const forest = grown(parents);
  const before = layout(forest, shownRows(forest, true));
  forest.add({ id: 'new', parentId: 'n4', label: 'New', status: 'ACTIVE', role: 'STANDARD', depth: 1, index: 999, childCount: 0, turnCount: 0, sourceSessionId: null, lastActiveAt: '' });
  const after = layout(forest, shownRows(forest, true));
  const others = parents.map((_, at) => at + 1).filter((row) => row % 30 !== 5);
  assert.ok(others.every((row) => before.x[row] === after.x[row] && before.y[row] === after.y[row]));
});

test('discs of any size do not overlap', () => {
  const chance = random(3);
  for (const radii of [[1], [5, 5], [400, ...Array(300).fill(3)], Array.from({ length: 400 }, () => 1 + 60 * chance() ** 6)]) {
    const { x, y } = pack(radii);
    for (let a = 0; a < radii.length; a++) {
      for (let b = 0; b < a; b++) assert.ok(Math.hypot(x[a] - x[b], y[a] - y[b]) >= radii[a] + radii[b] - 1e-9);
    }
  }
});

test('a hundred thousand stars are laid out in linear time', () => {
  const chance = random(9);
  const parents = Array.from({ length: 100_000 }, (_, at) => (at < 500 ? -1 : Math.floor(at * chance())));
  const depths = [];
  for (const parent of parents) depths.push(parent < 0 ? 0 : depths[parent] + 1);
  const order = parents.map((_, at) => at).sort((a, b) => depths[a] - depths[b]);
  const place = new Map(order.map((old, now) => [old, now]));
  const forest = Forest.fromColumns({
    ...Object.fromEntries(['status', 'role', 'childCount', 'turnCount', 'lastActiveAt', 'index'].map((name) => [name, Array(100_000).fill(0)])),
    id: order.map(String), label: order.map(String), source: Array(100_000).fill(-1), refs: [],
    parent: order.map((old) => (parents[old] < 0 ? -1 : place.get(parents[old]))), depth: order.map((old) => depths[old]),
  });
  const { x } = layout(forest, shownRows(forest, true));
  assert.ok(x.every(Number.isFinite));
});

test('archived stars are left out, but for those above an active one', () => {
  // 0 ── 1 ── 2, 0 ── 3, 4; archived: 1, 3, 4
  const forest = grown([-1, -1, 0, 0, 2], (at) => Number([1, 2, 3].includes(at)));
  assert.deepEqual([...shownRows(forest, false)], [1, 1, 0, 1, 0, 1]);
  assert.deepEqual([...shownRows(forest, true)], [1, 1, 1, 1, 1, 1]);
});

test('labels do not overlap, stay on the screen, and the weightier come first', () => {
  const chance = random(1);
  const bounds = { width: 800, height: 600, most: 60, tries: 1_000 };
  const candidates = Array.from({ length: 400 }, (_, row) => ({ row, text: `Star ${row}`, x: chance() * 800, y: chance() * 600, radius: 4 }));
  const placed = placeLabels(candidates, (text) => text.length * 7, bounds);
  assert.ok(placed.length > 30 && placed.length <= 60);
  assert.equal(placed[0].row, 0);
  for (const a of placed) {
    assert.ok(a.y >= 0 && a.y + LINE <= 600);
    for (const b of placed) {
      if (a !== b) assert.ok(Math.abs(a.x - b.x) >= (a.width + b.width) / 2 || Math.abs(a.y - b.y) >= LINE);
    }
  }
  assert.equal(placeLabels(candidates, () => 10, { ...bounds, most: 3 }).length, 3);
});

test('names are cut by their width, in one line', () => {
  assert.equal(shortened('Trip to\nLisbon'), 'Trip to Lisbon');
  assert.equal(shortened('a'.repeat(40)), `${'a'.repeat(26)}…`);
  assert.equal(shortened('季'.repeat(40)), `${'季'.repeat(13)}…`);
  assert.equal(shortened('😀'.repeat(30)).endsWith('😀…'), true);
});

test('the list shows what is unfolded, and what is not here', () => {
  // 0 ── 2 ── 4, 0 ── 3, 1
  const forest = grown([-1, -1, 0, 0, 2]);
  forest.recount(forest.find('n3'), 7);
  const shown = shownRows(forest, true);
  const names = (open) => [...linesOf(forest, shown, open).lines].map((line) => (line < 0 ? `+${forest.id[~line]}` : forest.id[line]));
  assert.deepEqual(names(() => true), ['n0', 'n2', 'n4', 'n3', '+n3', 'n1']);
  assert.deepEqual(names(() => false), ['n0', 'n1']);
  assert.deepEqual(names((row) => forest.id[row] === 'n0'), ['n0', 'n2', 'n3', 'n1']);
  const { place, siblings } = linesOf(forest, shown, () => true);
  assert.deepEqual([place[forest.find('n3')], siblings[forest.find('n0')], siblings[SKY]], [2, 2, 2]);
  const chain = grown(Array.from({ length: 20_000 }, (_, at) => at - 1));
  assert.equal(linesOf(chain, shownRows(chain, true), () => true).lines.length, 20_000);
});

test('arrows lead to parent, child and siblings, past what does not show', () => {
  const forest = grown([-1, -1, 0, 0, 0, 2], (at) => Number(at === 3));
  const shown = shownRows(forest, false);
  const from = (id, key) => forest.id[stepFrom(forest, shown, forest.find(id), key)];
  assert.deepEqual(
    [from('n0', 'ArrowDown'), from('n2', 'ArrowRight'), from('n4', 'ArrowLeft'), from('n5', 'ArrowUp'), from('n0', 'ArrowUp'), from('n5', 'Home'), from('n5', 'End')],
    ['n2', 'n4', 'n2', 'n2', 'n0', 'n0', 'n1'],
  );
});
