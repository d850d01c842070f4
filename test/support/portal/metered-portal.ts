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
  'Origin',
  'Sec-Fetch-Site',
  'User-Agent',
  'X-Forwarded-For',
  'X-Request-Id',
  'Content-Type',
  'Accept',
  'Referer',
];

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
  const send = (
    target: string,
    more: [string, string][] = [],
    body = '',
    type = 'application/x-www-form-urlencoded',
  ) => {
    // Each request comes from another network, so that none exceeds its rate limit.
    const network = `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count++ & 255}`;
    const usual: [string, string][] = [
      ['Sec-Fetch-Site', 'same-origin'],
      ['X-Forwarded-For', network],
      ...(access === 'public' ? [] : ([['Cookie', owner.cookie]] as [string, string][])),
      ...(body === ''
        ? []
        : ([
            ['Content-Type', type],
            ['Content-Length', String(body.length)],
          ] as [string, string][])),
    ];
    const replaced = new Set(more.map(([name]) => name.toLowerCase()));
    return bytesOf(target, {
      method,
      headers: [...usual.filter(([name]) => !replaced.has(name.toLowerCase())), ...more],
      body,
    });
  };
  const here = at.replaceAll(/:[^/]+/g, 'x');
  const positions: Position[] = [];
  const add = (family: string, what: string, most: number, request: (size: number) => string) =>
    positions.push({ family, name: `${method} ${path} ${what}`, most, request });

  for (const kind of URL_TEXTS) {
    for (const name of names.queries) {
      add('query', `?${name} of ${kind.name}`, MOST_HEADERS, (size) => send(`${here}?${name}=${textOf(kind, size)}`));
    }
    if (!path.includes(':')) continue;
    add('path', `of ${kind.name}`, MOST_HEADERS, (size) =>
      send(path.replaceAll(/:[^/]+/g, textOf(kind, size / path.split(':').length))),
    );
  }
  add('query', '? many names', MOST_HEADERS, (size) => send(`${here}?${manyOf((n) => n.toString(36), size, '&')}`));
  add('query', '? one name, again and again', MOST_HEADERS, (size) =>
    send(`${here}?${manyOf(() => 'next=a', size, '&')}`),
  );
  add('cookie', 'many cookies', MOST_HEADERS, (size) =>
    send(here, [['Cookie', manyOf((n) => `${n.toString(36)}=a`, size, ';')]]),
  );
  for (const name of COOKIES) {
    add('cookie', `${name}, again and again`, MOST_HEADERS, (size) =>
      send(here, [['Cookie', manyOf(() => `${name}=a`, size, '; ')]]),
    );
    for (const kind of HEADER_TEXTS.slice(0, 4)) {
      add('cookie', `${name} of ${kind.name}`, MOST_HEADERS, (size) =>
        send(here, [['Cookie', `${name}=${textOf(kind, size)}`]]),
      );
    }
  }
  for (const name of HEADERS) {
    for (const kind of HEADER_TEXTS) {
      add('header', `${name} of ${kind.name}`, MOST_HEADERS, (size) =>
        send(here, [[name, textOf(kind, size)]], method === 'GET' ? '' : 'a=b'),
      );
    }
  }
  if (method === 'GET') return positions;
  const form = (of: (size: number) => string) => (size: number) => send(here, [], of(size));
  add(
    'form',
    'many names',
    MOST_FORM,
    form((size) => manyOf((n) => n.toString(36), size, '&')),
  );
  add(
    'form',
    'separators',
    MOST_FORM,
    form((size) => '&'.repeat(size)),
  );
  for (const name of names.fields) {
    add(
      'form',
      `${name}, again and again`,
      MOST_FORM,
      form((size) => manyOf(() => `${name}=a`, size, '&')),
    );
    for (const kind of FORM_TEXTS)
      add(
        'form',
        `${name} of ${kind.name}`,
        MOST_FORM,
        form((size) => `${name}=${textOf(kind, size)}`),
      );
  }
  const json = (of: (size: number) => string) => (size: number) => send(here, [], of(size), 'application/json');
  add(
    'json',
    'many names',
    MOST_FORM,
    json((size) => `{${manyOf((n) => `"n${n}":0`, size)}}`),
  );
  add(
    'json',
    'arrays in arrays',
    MOST_FORM,
    json((size) => '['.repeat(size / 2) + ']'.repeat(size / 2)),
  );
  for (const place of [
    'id',
    'rawId',
    'type',
    'clientDataJSON',
    'attestationObject',
    'authenticatorData',
    'signature',
  ]) {
    const credential = (text: string) =>
      `{"id":"a","rawId":"a","type":"public-key","response":{"${place}":"${text}"},"${place}":"${text}"}`;
    add(
      'json',
      place,
      MOST_FORM,
      json((size) => credential('a'.repeat(size / 2))),
    );
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
      ...(/json|html/.test(headers['content-type'] ?? '') || status === 303 ? [] : ['neither a page nor JSON']),
      ...(Buffer.byteLength(body) > 100_000 ? ['a page of more than 100 kB'] : []),
    ],
    close: () => portal.stop(),
  });
}
