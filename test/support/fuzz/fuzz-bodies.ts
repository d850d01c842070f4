import type { Random } from '../data/random.js';

/** Values that some fields reject and that lower layers may trip over. */
const VALUES: unknown[] = [
  null, '', ' ', 'a', 'a\u0000b', '\ud800', '\udfff\ud800', 'e\u0301', '\u202e', '💩', 'x'.repeat(5_001), '💩'.repeat(301), '\ufe0f'.repeat(400),
  `${'a'.repeat(6_000)}@example.org`, 'a@b', 'A@Example.ORG', '<script>', "'; DROP TABLE users --", '2026-02-30', '2026-02-28T24:00:00Z', 'infinity',
  'now', '0000-01-01', '10000-01-01', 'http://x', 'javascript:alert(1)', 'https://example.org/a b', 'true', 'student', 'admin', 'owner', 'published',
  '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30', '0190A6F2-5C1E-7D3A-9B4F-2E8C6D1A7F30', '{0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30}', 0, -1, 1.5, 1e21,
  9007199254740993, true, false, [], [[]], [[{}]], [null], ['a', 'a'], {}, { toString: 1 }, { a: { b: [] } }, Array.from({ length: 101 }, () => 'a'),
]; // prettier-ignore

const NAMES = [
  'organization_id', 'id', 'created_at', 'brand', 'target', 'constructor', 'toString', 'hasOwnProperty', 'email', 'role', 'user_id', '', '0', 'a.b',
  'users', 'parent', 'scheduled_at', 'status', 'tags', 'is_pinned', 'published_at', 'then', '\u0000', '💩',
]; // prettier-ignore

/** Whole bodies that are not a JSON object, or barely one. */
const WHOLES = [
  '', 'null', '"a"', '1', '[]', '[[[]]]', '{}', '{', '{"a":1e400}', '{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}',
  '{"title":"a","title":"b"}', '\xff', '\xed\xa0\x80', '"\xed\xa0\x80"', '\xef\xbb\xbf{}', '{"a":"\\ud800"}', '['.repeat(5_000),
  `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`, '{"users":[]}', '{"users":[[{}]]}', '{"users":{"length":1}}', 'NaN', "{'a':1}", '{"a":1,}', '\x00',
]; // prettier-ignore

/** Encodes text as UTF-8, one character per byte. */
export const toBytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/** Spoils a valid body in one place: a value, a name, the whole body, or its text. */
export function spoilBody(random: Random, body: string, havoc: (text: string) => string): string {
  if (random.chance(0.12)) return random.pick(WHOLES);
  if (random.chance(0.12)) return havoc(body);
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(body, 'latin1').toString('utf8'));
  } catch {
    return random.pick(WHOLES);
  }
  if (typeof parsed !== 'object' || parsed === null) return random.pick(WHOLES);
  spoilWithin(random, parsed as Record<string, unknown>);
  return toBytes(JSON.stringify(parsed));
}

function spoilWithin(random: Random, holder: Record<string, unknown>): void {
  const names = Object.keys(holder);
  const name = names.length > 0 ? random.pick(names) : 'x';
  const inner = holder[name];
  // Prefers nested values, which have more ways to go wrong.
  if (typeof inner === 'object' && inner !== null && Object.keys(inner).length > 0 && random.chance(0.7)) {
    spoilWithin(random, inner as Record<string, unknown>);
    return;
  }
  const way = random.integer(10);
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete
  if (way === 0) delete holder[name];
  else if (way <= 2) holder[random.pick(NAMES)] = random.pick([inner, ...VALUES]);
  else holder[name] = random.pick(VALUES);
}
