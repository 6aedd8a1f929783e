/** What this browser keeps for the page: `session` until the tab closes, `lasting` beyond. */

/** The folder that the server is mounted at: `/`, or a prefix with a slash at its end. */
export const PREFIX = new URL('./', location.href).pathname;

/**
 * @param {'sessionStorage' | 'localStorage'} name
 * @returns {Storage | null} null where the browser blocks site data: then reading it throws
 */
function opened(name) {
  try {
    const storage = window[name];
    storage.getItem('');
    return storage;
  } catch {
    return null;
  }
}

/** @param {Storage | null} storage */
function place(storage) {
  /** What the storage does not take lives as long as the page. @type {Map<string, string>} */
  const untaken = new Map();
  const nameOf = (/** @type {string} */ key) => `stello-graph:${PREFIX}:${key}`;
  return {
    /** @param {string} key @returns {string | null} */
    get: (key) => untaken.get(key) ?? storage?.getItem(nameOf(key)) ?? null,
    /** @param {string} key @param {string | null} value null: forget it */
    set: (key, value) => {
      untaken.delete(key);
      if (value !== null && taken(storage, nameOf(key), value)) return;
      storage?.removeItem(nameOf(key));
      if (value !== null) untaken.set(key, value);
    },
  };
}

/** @param {Storage | null} storage @param {string} name @param {string} value @returns {boolean} false where it is full */
function taken(storage, name, value) {
  try {
    storage?.setItem(name, value);
    return storage !== null;
  } catch {
    return false;
  }
}

export const session = place(opened('sessionStorage'));
export const lasting = place(opened('localStorage'));
