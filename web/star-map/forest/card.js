/** What is told of a star: a small card under the pointer, and the same in words for those who cannot see it. */
import { html, useSignalEffect, useSignal } from '../html.js';
import { dateTime, t } from '../texts.js';
import { ARCHIVED, MAIN, NONE } from './forest.js';
import { forest, hovered, selectedRow, version } from './map.js';

const AWAY_PX = 26;

/** @typedef {import('../../vendor/signals.js').Signal<import('./stage.js').Stage | null>} StageSignal */

/** @param {{stage: StageSignal, moves: import('../../vendor/signals.js').Signal<number>}} props */
export function Card({ stage, moves }) {
  const spoken = useSignal('');
  useSignalEffect(() => {
    version.value;
    const row = selectedRow();
    // A line of the list that has the focus says it by itself.
    const isAtCanvas = stage.value !== null && stage.value.canvas === document.activeElement;
    spoken.value = row === NONE || !isAtCanvas ? '' : spokenOf(row);
  });
  moves.value;
  const row = hovered.value;
  const stars = forest.value;
  return html`
    <p class="unseen" aria-live="polite" data-part="selected-star">${spoken.value}</p>
    ${stars && stage.value && row !== NONE && stars.alive[row] === 1 && html`
      <div class="sky-card" aria-hidden="true" style=${placeBeside(stage.value, row)}>
        <strong>${stars.label[row]}</strong>
        <span class="quiet">${factsOf(row).join(' · ')}</span>
      </div>`}`;
}

/** @param {import('./stage.js').Stage} stage @param {number} row */
function placeBeside(stage, row) {
  const [x, y] = stage.placeOf(row);
  const { width, height } = stage.camera.size;
  const across = x > width / 2 ? `right:${width - x + AWAY_PX}px` : `left:${x + AWAY_PX}px`;
  const down = y > height / 2 ? `bottom:${height - y + AWAY_PX}px` : `top:${y + AWAY_PX}px`;
  return `${across};${down}`;
}

/** @param {number} row @returns {string[]} */
export function factsOf(row) {
  const stars = /** @type {import('./forest.js').Forest} */ (forest.value);
  const facts = [t('sky.turns', { n: stars.turnCount[row] })];
  if (stars.role[row] === MAIN) facts.unshift(t('sky.main'));
  if (stars.status[row] === ARCHIVED) facts.unshift(t('sky.archived'));
  if (stars.childCount[row] > 0) facts.push(t('sky.children', { n: stars.childCount[row] }));
  facts.push(dateTime(stars.lastActive[row]));
  return facts;
}

/** @param {number} row */
function spokenOf(row) {
  return [/** @type {import('./forest.js').Forest} */ (forest.value).label[row], ...factsOf(row)].join(', ');
}
