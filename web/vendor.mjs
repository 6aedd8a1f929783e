// Makes vendor/ from node_modules: `npm ci && node vendor.mjs`. The result is committed; a test holds it to MANIFEST.json.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const MODULES = new URL('node_modules/', import.meta.url);
const VENDOR = new URL('vendor/', import.meta.url);
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

// Which LICENSE is whose. The explorer's package has none of its own: it is built in graphiql's repository.
const LICENCES = [
  ['react', 'react'],
  ['react-dom', 'react-dom'],
  ['graphql-ws', 'graphql-ws'],
  ['graphiql', 'graphiql'],
  ['@graphiql/plugin-explorer', 'graphiql', 'explorer'],
  ['graphiql-explorer', 'graphiql-explorer'],
  ['@fontsource/fira-code', '@fontsource/fira-code', 'fira-code'],
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
  put(file, read(name, path).replace(/^\/\/# sourceMappingURL=.*\n?/gm, ''), name);
}
for (const [name, holder, file = name] of LICENCES) {
  put(`LICENSE.${file}.txt`, licence(holder), name);
}
put('LICENSE.graphiql-bundled.txt', bundledLicences(), 'graphiql');
files.sort((a, b) => (a.file < b.file ? -1 : 1));
writeFileSync(new URL('MANIFEST.json', VENDOR), JSON.stringify({ files }, null, 2) + '\n');
