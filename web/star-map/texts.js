/** What the page says, in the reader's language. */
import { computed, effect, signal } from './html.js';
import { lasting } from './storage.js';
import en from './texts/en.js';
import zh from './texts/zh.js';

/** @type {Record<string, Record<string, string>>} */
const TEXTS = { en, zh };

/** What was chosen: a language, or null to follow the browser. */
export const chosenLanguage = signal(lasting.get('language'));

/** The language in force: `en` or `zh`. */
export const language = computed(() => {
  const wanted = [chosenLanguage.value ?? '', ...navigator.languages];
  const found = wanted.map((name) => name.slice(0, 2).toLowerCase()).find((name) => name in TEXTS);
  return found ?? 'en';
});

/** The region's way to write numbers and dates, where the browser tells one of that language. */
const locale = computed(() => navigator.languages.find((name) => name.slice(0, 2).toLowerCase() === language.value) ?? language.value);

effect(() => {
  document.documentElement.lang = language.value === 'zh' ? 'zh-CN' : 'en';
});

/** @param {string} name `en` or `zh`; kept in this browser */
export function chooseLanguage(name) {
  lasting.set('language', name);
  chosenLanguage.value = name;
}

/**
 * The text of a key, its `{names}` filled in. A text of two forms, `one | many`, is chosen by `n`.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  const text = TEXTS[language.value][key];
  if (text === undefined) throw new Error(`no text for ${key}`);
  const forms = text.split(' | ');
  const form = forms.length > 1 && values.n !== 1 ? forms[1] : forms[0];
  return form.replace(/\{(\w+)\}/g, (_, name) => shown(values[name]));
}

// Made once for a language: making one takes longer than a hundred uses.
const numbers = computed(() => new Intl.NumberFormat(locale.value));
const dates = computed(() => new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'short' }));

/** @param {string | number} value */
function shown(value) {
  return typeof value === 'number' ? number(value) : String(value);
}

/** @param {number} value @returns {string} with its thousands marked */
export function number(value) {
  return numbers.value.format(value);
}

/** @param {string | number | Date} at @returns {string} a day and a time, short */
export function dateTime(at) {
  return dates.value.format(new Date(at));
}
