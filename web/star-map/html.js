/** What draws: templates, hooks and signals, from one place. */
import { Fragment, h, render } from '../vendor/preact.js';
import htm from '../vendor/htm.js';

export { Fragment, render };
export { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact-hooks.js';
export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from '../vendor/signals.js';

/** A template: html`<p class="x">${text}</p>`. Texts are escaped by construction. */
export const html = htm.bind(h);

/** @typedef {import('../vendor/preact.js').ComponentChildren} Children */
