/** What this browser keeps for the page: `session` until the tab closes, `lasting` beyond. */

/** The folder that the server is mounted at: `/`, or a prefix with a slash at its end. */
export const PREFIX = new URL('./', location.href).pathname;

/**
 * @param {'sessionStorage' | 'localStorage'} name
 * @returns {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>}
 */
function opened(name) {
  // Reading it throws where the browser blocks site data.
  try {
    const storage = window[name];
    storage.getItem('');
    return storage;
  } catch {
    const entries = new Map();
    return {
      getItem: (key) => entries.get(key) ?? null,
      setItem: (key, value) => void entries.set(key, value),
      removeItem: (key) => void entries.delete(key),
    };
  }
}

/** @param {ReturnType<typeof opened>} storage */
function place(storage) {
  return {
    /** @param {string} key @returns {string | null} */
    get: (key) => storage.getItem(`stello-graph:${PREFIX}:${key}`),
    /** @param {string} key @param {string | null} value null: forget it */
    set: (key, value) => {
      const name = `stello-graph:${PREFIX}:${key}`;
      if (value === null) storage.removeItem(name);
      else storage.setItem(name, value);
    },
  };
}

export const session = place(opened('sessionStorage'));
export const lasting = place(opened('localStorage'));
