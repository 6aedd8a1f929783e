/**
 * Markdown of models, made safe: what it holds is hostile until shown otherwise. HTML in it is shown
 * as it was written, pictures are links, and only DOMPurify's word decides what reaches the page.
 */
import DOMPurify from '../../vendor/dompurify.js';
import { Marked } from '../../vendor/marked.js';
import { t } from '../texts.js';

const ALLOWED = {
  ALLOWED_TAGS: [
    'p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'strong', 'em', 'del', 'code', 'pre', 'blockquote',
    'ul', 'ol', 'li', 'a', 'table', 'thead', 'tbody', 'tr', 'th', 'td',
  ],
  ALLOWED_ATTR: ['href', 'title', 'align', 'start', 'class'],
  ADD_URI_SAFE_ATTR: ['align', 'start'],
  ALLOWED_URI_REGEXP: /^(?:https?|mailto):/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: /** @type {const} */ (true),
};
const COLOURED = { ALLOWED_TAGS: ['span'], ALLOWED_ATTR: ['class'], RETURN_DOM_FRAGMENT: /** @type {const} */ (true) };
const MOST_COLOURED = 50_000;
// Beyond these, what is written to that end can keep the page busy for minutes.
const LONGEST = 100_000;
const LONGEST_EMPHASIS = 4_000;

const marked = new Marked({
  gfm: true,
  tokenizer: { emStrong: (text) => (text.length > LONGEST_EMPHASIS ? undefined : false) },
  renderer: {
    html: ({ text }) => (/^<br\s*\/?>$/i.test(text.trim()) ? '<br>' : escaped(text)),
    image: ({ href, text }) => `<a href="${escaped(href)}">${escaped(text || href)}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  },
});

/** @param {string} text */
function escaped(text) {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** @param {string} text @returns {DocumentFragment} */
export function rendered(text) {
  const markup = markupOf(text);
  return markup === null ? plain(text) : made(markup);
}

/** @param {string} text @returns {string | null} null where it is too long, or nested too deep */
function markupOf(text) {
  if (text.length > LONGEST) return null;
  try {
    return /** @type {string} */ (marked.parse(text));
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** @param {string} text */
function plain(text) {
  const fragment = new DocumentFragment();
  const box = document.createElement('div');
  box.className = 'said';
  box.textContent = text;
  fragment.append(box);
  return fragment;
}

/** @param {string} markup */
function made(markup) {
  const fragment = DOMPurify.sanitize(markup, ALLOWED);
  for (const link of fragment.querySelectorAll('a')) openElsewhere(link);
  for (const table of fragment.querySelectorAll('table')) boxed(table);
  for (const code of fragment.querySelectorAll('pre > code')) framed(code);
  return fragment;
}

/** @param {HTMLAnchorElement} link */
function openElsewhere(link) {
  link.target = '_blank';
  link.rel = 'noopener noreferrer nofollow';
}

/** Wide tables scroll by themselves. @param {Element} table */
function boxed(table) {
  const box = document.createElement('div');
  box.className = 'wide';
  table.replaceWith(box);
  box.append(table);
}

/** A block of code with its language and a button to copy it. @param {Element} code */
function framed(code) {
  const frame = document.createElement('div');
  const bar = document.createElement('div');
  const name = document.createElement('span');
  const button = document.createElement('button');
  frame.className = 'code';
  bar.className = 'code-bar';
  name.textContent = languageOf(code);
  button.type = 'button';
  button.className = 'plain copy-code';
  button.textContent = t('talk.copyCode');
  bar.append(name, button);
  /** @type {Element} */ (code.parentElement).replaceWith(frame);
  const block = document.createElement('pre');
  block.tabIndex = 0;
  block.append(code);
  frame.append(bar, block);
}

/** @param {Element} code */
function languageOf(code) {
  return /\blanguage-(\S+)/.exec(code.className)?.[1] ?? '';
}

let colours = /** @type {typeof import('../../vendor/highlight.js').default | null} */ (null);

/** Colours the code in an element; what does so comes with the first code that is seen. @param {Element} element */
export async function colour(element) {
  const blocks = [...element.querySelectorAll('pre > code[class*="language-"]')];
  if (!blocks.length) return;
  colours ??= (await import('../../vendor/highlight.js')).default;
  for (const code of blocks) {
    const [text, language] = [code.textContent ?? '', languageOf(code)];
    if (text.length > MOST_COLOURED || !colours.getLanguage(language)) continue;
    const { value } = colours.highlight(text, { language, ignoreIllegals: true });
    code.replaceChildren(DOMPurify.sanitize(value, COLOURED));
  }
}
