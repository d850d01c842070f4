import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DECLARED } from '../../../apps/api/src/http/openapi/rows.js';
import { TestApi } from '../../support/http/api.js';
import { writesOf } from '../../support/http/record-for.js';

const folder = fileURLToPath(new URL('..', import.meta.url));

/** The texts of all specs of the API. Those that sweep all routes name none of them. */
const specs = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.spec.ts') && !name.endsWith('own-specs.spec.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'));

/** Whether a spec sends the request: it names the path, and the method unless that is POST, which is the helpers' default. */
function isSpecified(method: string, path: string): boolean {
  const segments = path.split('/').map((segment) => (segment.startsWith(':') ? '[^/\'"`\\s]+' : segment));
  const named = new RegExp(`${segments.join('/')}(?=['"\`?]|\\$\\{)`);
  return specs.some((text) => named.test(text) && (method === 'POST' || new RegExp(`'${method}'|\\b${method}\\(`, 'i').test(text)));
} // prettier-ignore

const api = await TestApi.shared();

/** What test/api/writes/rows.spec.ts does with every declared row. */
const isDeclared = (method: string, path: string) =>
  DECLARED.some((rows) => path === `/v1/${method === 'POST' ? rows.path.split('/:')[0] : rows.path}`);

it('each write has a spec of what it does', () => {
  const without = writesOf(api).filter(({ method, path }) => !isSpecified(method, path) && !isDeclared(method, path));
  expect(without.map(({ method, path }) => `${method} ${path}: give it a spec in test/api/<area>`)).toEqual([]);
  expect(isSpecified('POST', '/v1/sessions/:session_id/unheard-of')).toBe(false);
  expect(isSpecified('DELETE', '/v1/students/:student_id')).toBe(false);
});
