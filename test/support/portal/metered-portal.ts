import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Route } from '../../../apps/portal/src/web/route-table.js';
import { ApiProcess, buildOnce } from '../http/api-process.js';
import type { Position } from '../fuzz/long-bodies.js';
import { HEADER_TEXTS, type Kind, manyOf, textOf, URL_TEXTS } from '../fuzz/long-texts.js';
import { Metered } from '../load/metered.js';
import { bytesOf } from '../http/raw-http.js';
import { type Someone, TestPortal } from './portal.js';

const SOURCES = fileURLToPath(new URL('../../../apps/portal/src/', import.meta.url));

/** Node accepts 16 KiB of headers, and the portal accepts forms of 32 KiB. */
const MOST_HEADERS = 14_500;
const MOST_FORM = 32_000;

/** Texts on which parsers of addresses and names may be slow, in addition to those for URLs. */
const FORM_TEXTS: Kind[] = [
  ...URL_TEXTS,
  { name: 'blanks', unit: '+' },
  { name: 'line breaks', unit: '%0D%0A', end: 'a' },
  { name: 'dots of an address', unit: '.', start: 'a%40', end: '%21' },
  { name: 'labels of an address', unit: 'a.', start: 'a%40', end: '%21' },
  { name: 'at signs', unit: '%40' },
  { name: 'an address on the web', unit: 'a', start: 'https%3A%2F%2F', end: '+' },
  { name: 'combining marks', unit: '%CC%81' },
  { name: 'tags', unit: '%3Ca' },
  { name: 'dashes of a code', unit: '-', start: 'A' },
];

const COOKIES = ['session', 'flash', 'passkey', 'join', 'device', 'unknown'];
const HEADERS = [
  'Origin', 'Sec-Fetch-Site', 'User-Agent', 'X-Forwarded-For', 'X-Request-Id', 'Content-Type', 'Accept', 'Referer',
]; // prettier-ignore
/** The texts in a passkey's answer. */
const PLACES = ['id', 'rawId', 'type', 'clientDataJSON', 'attestationObject', 'authenticatorData', 'signature'];

/** Names in the portal's sources that match the pattern. */
function namesIn(pattern: RegExp): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|eta)$/.test(name));
  const texts = files.map((name) => readFileSync(join(SOURCES, name), 'utf8'));
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!)))];
}

/** Every place in a request to the portal whose length is the caller's choice. */
function positionsOf(routes: Route[], owner: Someone): Position[] {
  const fields = namesIn(/\b(?:text|exact|list)\('(\w+)'\)/g);
  const queries = namesIn(/@Query\('(\w+)'\)/g);
  return routes.flatMap((route) => positionsAt(route, owner, { fields, queries }));
}

function positionsAt({ method, path, access }: Route, owner: Someone, names: Record<'fields' | 'queries', string[]>) {
  let count = 0;
  const at = path.replace(':slug', owner.organization.slug);
  const send = (target: string, more: [string, string][] = [], body = '', type = 'application/x-www-form-urlencoded') => {
    // Each request comes from another network, so that none exceeds its rate limit.
    const network = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count++ & 255}`;
    const usual: [string, string][] = [['Sec-Fetch-Site', 'same-origin'], ['X-Forwarded-For', network]]; // prettier-ignore
    if (access !== 'public') usual.push(['Cookie', owner.cookie]);
    if (body !== '') usual.push(['Content-Type', type], ['Content-Length', String(body.length)]);
    const replaced = new Set(more.map(([name]) => name.toLowerCase()));
    return bytesOf(target, { method, headers: [...usual.filter(([name]) => !replaced.has(name.toLowerCase())), ...more], body });
  };
  const here = at.replaceAll(/:[^/]+/g, 'x');
  const positions: Position[] = [];
  const add = (family: string, what: string, request: (size: number) => string, most = MOST_HEADERS) =>
    positions.push({ family, name: `${method} ${path} ${what}`, most, request });
  const header = (family: string, what: string, name: string, of: (size: number) => string, body = '') =>
    add(family, what, (size) => send(here, [[name, of(size)]], body));

  for (const kind of URL_TEXTS) {
    for (const name of names.queries) add('query', `?${name} of ${kind.name}`, (size) => send(`${here}?${name}=${textOf(kind, size)}`));
    if (!path.includes(':')) continue;
    const share = path.split(':').length;
    add('path', `of ${kind.name}`, (size) => send(path.replaceAll(/:[^/]+/g, textOf(kind, size / share))));
  }
  const numbered = (size: number) => manyOf((n) => n.toString(36), size, '&');
  add('query', '? many names', (size) => send(`${here}?${numbered(size)}`));
  add('query', '? one name, again and again', (size) => send(`${here}?${manyOf(() => 'next=a', size, '&')}`));
  header('cookie', 'many cookies', 'Cookie', (size) => manyOf((n) => `${n.toString(36)}=a`, size, ';'));
  for (const name of COOKIES) {
    header('cookie', `${name}, again and again`, 'Cookie', (size) => manyOf(() => `${name}=a`, size, '; '));
    for (const kind of HEADER_TEXTS.slice(0, 4)) header('cookie', `${name} of ${kind.name}`, 'Cookie', (size) => `${name}=${textOf(kind, size)}`);
  }
  for (const name of HEADERS) {
    for (const kind of HEADER_TEXTS) header('header', `${name} of ${kind.name}`, name, (size) => textOf(kind, size), method === 'GET' ? '' : 'a=b');
  }
  if (method === 'GET') return positions;
  const form = (what: string, of: (size: number) => string) => add('form', what, (size) => send(here, [], of(size)), MOST_FORM);
  form('many names', numbered);
  form('separators', (size) => '&'.repeat(size));
  for (const name of names.fields) {
    form(`${name}, again and again`, (size) => manyOf(() => `${name}=a`, size, '&'));
    for (const kind of FORM_TEXTS) form(`${name} of ${kind.name}`, (size) => `${name}=${textOf(kind, size)}`);
  }
  const json = (what: string, of: (size: number) => string) => add('json', what, (size) => send(here, [], of(size), 'application/json'), MOST_FORM);
  json('many names', (size) => `{${manyOf((n) => `"n${n}":0`, size)}}`);
  json('arrays in arrays', (size) => '['.repeat(size / 2) + ']'.repeat(size / 2));
  for (const place of PLACES) {
    json(place, (size) => {
      const text = 'a'.repeat(size / 2);
      return `{"id":"a","rawId":"a","type":"public-key","response":{"${place}":"${text}"},"${place}":"${text}"}`;
    });
  }
  return positions;
}

/** The portal on a filled database, with a meter. */
export async function meteredPortal(): Promise<Metered> {
  await buildOnce();
  const portal = await TestPortal.start();
  const owner = await portal.someone('owner');
  const routes = portal.routes().filter(({ access }) => access !== 'probe');
  const settings = {
    PORTAL_DATABASE_URL: portal.database.portalUrl,
    ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    TRUST_PROXY: 'true',
    PORTAL_REQUESTS_PER_MINUTE: '1000000',
  };
  return Metered.open({
    positions: positionsOf(routes, owner),
    start: (flags, more) => ApiProcess.start({ ...settings, ...more }, flags, 'portal'),
    faults: ({ status, headers, body }) => [
      ...(/json|html|csv/.test(headers['content-type'] ?? '') || status === 303 ? [] : ['neither a page, JSON nor CSV']),
      ...(Buffer.byteLength(body) > 100_000 ? ['a page of more than 100 kB'] : []),
    ],
    close: () => portal.stop(),
  });
}
