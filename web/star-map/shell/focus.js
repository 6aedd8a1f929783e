/** Where the focus goes when what had it is gone, or when it is sent from side to side. */

const MAP = 'main [role="tree"][tabindex="0"], main [role="tree"] [tabindex="0"], main canvas';
const BEFORE_MAP = 'main.gate input, main.gate button';

/**
 * Brings the focus to the map: its list where that shows, else its canvas; to what is open where that covers it, to
 * what is asked where there is no map yet.
 */
export function focusMap() {
  const place = [MAP, BEFORE_MAP, 'main'].flatMap((places) => [...document.querySelectorAll(places)]).find(isSeen);
  if (place) /** @type {HTMLElement} */ (place).focus();
  else focusSide();
}

/** @param {Element} place */
function isSeen(place) {
  return place.checkVisibility({ visibilityProperty: true });
}

/** Brings the focus to what is open: its composer where there is one, else its head. */
export function focusSide() {
  const place = document.querySelector('.side textarea:not([disabled])') ?? document.querySelector('.side h2');
  /** @type {HTMLElement | null} */ (place)?.focus();
}

/** Once what goes is gone: the focus may have gone with it, then the map has it. */
export function keepFocus() {
  requestAnimationFrame(() => document.activeElement === document.body && focusMap());
}
