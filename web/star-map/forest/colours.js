/** The map's colours, from the style sheet's properties. */

const NAMES = ['sky', 'raised', 'line', 'text', 'quiet', 'accent', 'star', 'star-main', 'star-archived', 'edge', 'ref', 'source'];

/** @typedef {Record<string, string> & {font: string, isDark: boolean}} Colours */

/** @param {Element} element @returns {Colours} as they are now */
export function coloursOf(element) {
  const style = getComputedStyle(element);
  const colours = Object.fromEntries(NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  return /** @type {any} */ ({ ...colours, font: style.fontFamily, isDark: style.colorScheme === 'dark' });
}

/** @param {() => void} onChange called when the browser's scheme changes @returns {() => void} stops it */
export function watchScheme(onChange) {
  const media = matchMedia('(prefers-color-scheme: dark)');
  media.addEventListener('change', onChange);
  return () => media.removeEventListener('change', onChange);
}
