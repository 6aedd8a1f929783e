/** Where the focus goes when what had it is gone, or when it is sent from side to side. */

const MAP = 'main [role="tree"][tabindex="0"], main [role="tree"] [tabindex="0"], main canvas';

/** Brings the focus to the map: its list where that shows, else its canvas; to what is open where that covers it. */
export function focusMap() {
  const place = [...document.querySelectorAll(MAP), ...document.querySelectorAll('main')].find(isSeen);
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
