// Makes vendor/, or the folder that is named, from node_modules: `npm ci && node vendor.mjs [FOLDER]`.
// The result is committed; a test holds it to MANIFEST.json, another to what this script makes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const MODULES = new URL('node_modules/', import.meta.url);
const VENDOR = process.argv[2] ? pathToFileURL(`${process.argv[2]}/`) : new URL('vendor/', import.meta.url);
const LOCK = JSON.parse(readFileSync(new URL('package-lock.json', import.meta.url), 'utf8'));

const COPIES = [
  ['react', 'umd/react.production.min.js'],
  ['react-dom', 'umd/react-dom.production.min.js'],
  ['graphql-ws', 'umd/graphql-ws.min.js'],
  ['graphiql', 'graphiql.min.js'],
  ['graphiql', 'graphiql.min.css'],
  ['@graphiql/plugin-explorer', 'dist/index.umd.js', 'explorer.umd.js'],
  ['@graphiql/plugin-explorer', 'dist/style.css', 'explorer.css'],
];

// ES modules of the star map. What they import by name they import from the file beside them.
const MODULES_OF_THE_PAGE = [
  ['preact', 'dist/preact.mjs'],
  ['preact', 'hooks/dist/hooks.mjs', 'preact-hooks', 'preact/hooks'],
  ['@preact/signals', 'dist/signals.mjs', 'signals'],
  ['@preact/signals-core', 'dist/signals-core.mjs', 'signals-core'],
  ['htm', 'dist/htm.mjs'],
  ['graphql-ws', 'dist/client.js', 'graphql-ws'],
  ['graphql-ws', `dist/${common('graphql-ws')}`, 'graphql-ws-common', `./${common('graphql-ws')}`],
  ...['color', 'dispatch', 'drag', 'ease', 'interpolate', 'quadtree', 'selection', 'timer', 'transition', 'zoom'].map(
    (name) => [`d3-${name}`, `dist/d3-${name}.min.mjs`],
  ),
  ['marked', 'lib/marked.esm.js'],
  ['dompurify', 'dist/purify.es.mjs'],
  ['@highlightjs/cdn-assets', 'es/highlight.min.js', 'highlight'],
];
const FILES = new Map(MODULES_OF_THE_PAGE.map(([name, , file = name, specifier = name]) => [specifier, `./${file}.js`]));
// What our own modules import, with its types: `tsc` reads the .d.ts beside a file in place of it.
const HIGHLIGHT_TYPES = `declare const highlight: {
  highlight(code: string, options: { language: string; ignoreIllegals?: boolean }): { value: string };
  getLanguage(name: string): object | undefined;
};
export default highlight;
`;
const TYPES = new Map([
  ...['preact', 'preact/hooks', '@preact/signals', 'd3-quadtree', 'd3-selection', 'd3-zoom', 'marked'].map(
    (name) => [name, `export * from '${name}';\n`],
  ),
  ['graphql-ws', "export * from 'graphql-ws/client';\n"],
  ['htm', "export { default } from 'htm';\n"],
  ['dompurify', "export { default } from 'dompurify';\n"],
  ['@highlightjs/cdn-assets', HIGHLIGHT_TYPES],
]);

// Which LICENSE is whose. The explorer's package has none of its own: it is built in graphiql's repository.
const LICENCES = [
  ['react', 'react'],
  ['react-dom', 'react-dom'],
  ['graphql-ws', 'graphql-ws'],
  ['graphiql', 'graphiql'],
  ['@graphiql/plugin-explorer', 'graphiql', 'explorer'],
  ['graphiql-explorer', 'graphiql-explorer'],
  ['@fontsource/fira-code', '@fontsource/fira-code', 'fira-code'],
  ['preact', 'preact'],
  ['@preact/signals', '@preact/signals', 'signals'],
  ['@preact/signals-core', '@preact/signals-core', 'signals-core'],
  ['htm', 'htm'],
  ...MODULES_OF_THE_PAGE.map(([name]) => name).filter((name) => name.startsWith('d3-')).map((name) => [name, name]),
  ['marked', 'marked'],
  ['dompurify', 'dompurify'],
  ['@highlightjs/cdn-assets', '@highlightjs/cdn-assets', 'highlight'],
];

const files = [];

function put(file, text, name) {
  const { version, license } = about(name);
  writeFileSync(new URL(file, VENDOR), text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  files.push({ file, package: name, version, licence: license, sha256 });
}

function read(name, path) {
  return readFileSync(new URL(`${folder(name)}/${path}`, MODULES), 'utf8');
}

function common(name) {
  return readdirSync(new URL(`${name}/dist/`, MODULES)).find((file) => /^common-\w+\.js$/.test(file));
}

// Anchored to the beginning of a statement: graphql-ws has `from 'ws'` inside a message.
function beside(text) {
  return text.replace(/(^|[;}])(\s*(?:import|export)\b[^;'"()]*?)(['"])([^'"]+)\3/gm, (all, before, words, quote, name) => {
    const file = FILES.get(name);
    if (!file) throw new Error(`no file is vendored for ${name}`);
    return `${before}${words}${quote}${file}${quote}`;
  });
}

function withoutMap(text) {
  return text.replace(/^\/\/# sourceMappingURL=.*\n?/gm, '');
}

function folder(name) {
  const tail = `node_modules/${name}`;
  const found = Object.keys(LOCK.packages).filter((path) => path.endsWith(tail));
  found.sort((a, b) => a.length - b.length);
  return found.length ? found[0].slice('node_modules/'.length) : null;
}

function about(name) {
  return JSON.parse(read(name, 'package.json'));
}

function licence(name) {
  const file = readdirSync(new URL(`${folder(name)}/`, MODULES)).find((entry) => /^licen[cs]e/i.test(entry));
  return file ? read(name, file).replace(/\r\n/g, '\n').trim() + '\n' : null;
}

// graphiql.min.js holds other packages; its source map names them. graphiql's own workspaces are not under node_modules.
function bundled() {
  const { sources } = JSON.parse(read('graphiql', 'graphiql.min.js.map'));
  const names = sources.map((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1]);
  return [...new Set(names.filter(Boolean))].sort();
}

// A package that its successors have swallowed since (@react-aria/utils) stands under the licence of its scope.
function installed(name) {
  if (folder(name)) return name;
  const scope = `node_modules/${name.split('/')[0]}/`;
  const sibling = Object.keys(LOCK.packages).find((path) => path.startsWith(scope));
  if (!sibling) throw new Error(`no licence found for ${name}, which graphiql.min.js holds`);
  return sibling.slice('node_modules/'.length);
}

function bundledLicences() {
  const byText = new Map();
  for (const name of bundled()) {
    const holder = installed(name);
    const { license, author } = about(holder);
    const text = licence(holder) ?? `${license}, by ${author?.name ?? author ?? 'its authors'}; its text stands elsewhere in this file.\n`;
    byText.set(text, [...(byText.get(text) ?? []), name]);
  }
  const sections = [...byText].map(([text, names]) => `${names.join(', ')}\n\n${text}`);
  sections.push(`Roboto 2.137, the typeface, copyright 2011 Google Inc.\n\n${licence('@react-aria/focus')}`);
  const rule = `\n${'-'.repeat(80)}\n\n`;
  return `graphiql.min.js and graphiql.min.css hold the following, each under its own licence.\n${rule}${sections.join(rule)}`;
}

rmSync(VENDOR, { recursive: true, force: true });
mkdirSync(VENDOR);
for (const [name, path, file = path.split('/').at(-1)] of COPIES) {
  put(file, withoutMap(read(name, path)), name);
}
for (const [name, path, file = name, specifier = name] of MODULES_OF_THE_PAGE) {
  put(`${file}.js`, beside(withoutMap(read(name, path))), name);
  const types = TYPES.get(specifier);
  if (types) put(`${file}.d.ts`, types, name);
}
for (const [name, holder, file = name] of LICENCES) {
  put(`LICENSE.${file}.txt`, licence(holder), name);
}
put('LICENSE.graphiql-bundled.txt', bundledLicences(), 'graphiql');
files.sort((a, b) => (a.file < b.file ? -1 : 1));
writeFileSync(new URL('MANIFEST.json', VENDOR), JSON.stringify({ files }, null, 2) + '\n');
