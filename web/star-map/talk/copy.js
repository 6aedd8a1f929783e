/** Copying to the clipboard, also where the page came without TLS and the browser offers no way but the old one. */
import { say } from '../shell/toasts.js';
import { t } from '../texts.js';

/** @param {string} text */
export async function copy(text) {
  const done = navigator.clipboard ? await navigator.clipboard.writeText(text).then(() => true, () => false) : copyOld(text);
  if (done) say(t('talk.copied'));
  else say(t('talk.notCopied'), 'error');
}

/** @param {string} text */
function copyOld(text) {
  const field = document.createElement('textarea');
  const focused = document.activeElement;
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
