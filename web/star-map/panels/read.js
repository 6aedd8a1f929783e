/** What a panel shows: one query, read when it opens and again whenever something changed. */
import { Refusal, query } from '../graphql.js';
import { html, signal, useEffect, useMemo } from '../html.js';
import { listen } from '../live.js';
import { reason } from '../shell/toasts.js';
import { t } from '../texts.js';

/**
 * @typedef {object} Reading
 * @property {any} data the newest answer, null until there is one
 * @property {Refusal | null} refusal why the newest request brought none
 * @property {() => Promise<void>} again reads anew; done when the answer is there
 */

/**
 * Keeps the answer of one query. Requests never overlap: what is asked for meanwhile is read once, after.
 * @param {string} text
 */
function reader(text) {
  const answer = signal({ data: /** @type {any} */ (null), refusal: /** @type {Refusal | null} */ (null) });
  let variables = {};
  let isDue = false;
  let isStopped = false;
  let running = /** @type {Promise<void> | null} */ (null);

  const readOnce = async () => {
    try {
      const data = await query(text, variables);
      if (!isStopped) answer.value = { data, refusal: null };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!isStopped) answer.value = { data: answer.value.data, refusal: error };
    }
  };
  const readAll = async () => {
    while (isDue && !isStopped) {
      isDue = false;
      await readOnce();
    }
    running = null;
  };
  const again = () => {
    isDue = true;
    running ??= readAll();
    return running;
  };
  return {
    answer,
    again,
    /** @param {Record<string, any>} given */
    ask: (given) => {
      variables = given;
      return again();
    },
    start: () => {
      isStopped = false;
    },
    stop: () => {
      isStopped = true;
    },
  };
}

/**
 * @param {string} text
 * @param {Record<string, any> | null} [variables] read anew when they change; null: there is nothing to ask
 * @returns {Reading}
 */
export function useReading(text, variables = {}) {
  const { answer, again, ask, start, stop } = useMemo(() => reader(text), [text]);
  useEffect(() => {
    start();
    return stop;
  }, [text]);
  useEffect(() => {
    if (variables) void ask(variables);
  }, [text, JSON.stringify(variables)]);
  return { ...answer.value, again };
}

/**
 * Calls back for each live event that is about a session.
 * @param {string} id
 * @param {() => void} changed
 */
export function useSessionEvents(id, changed) {
  useEffect(() => listen(({ nodeId, data }) => {
    if (nodeId === id || data?.toId === id) changed();
  }), [id]);
}

/**
 * Draws what was read, or that it loads, or why it did not come.
 * @param {{reading: Reading, children: (data: any) => import('../html.js').Children}} props
 */
export function Read({ reading: { data, refusal, again }, children }) {
  return html`
    ${refusal && html`
      <div class="row" role="alert">
        <p class="error grow">${reason(refusal)}</p>
        <button type="button" onClick=${again}>${t('panels.again')}</button>
      </div>`}
    ${data ? children(data) : !refusal && html`<p class="quiet" role="status">${t('panels.loading')}</p>`}`;
}
