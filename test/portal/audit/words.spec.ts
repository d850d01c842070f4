import { operationInWords } from '@app/audit';
import { isWrite } from '../../../apps/api/src/http/request/attempt.js';
import { TestApi } from '../../support/http/api.js';
import { keyedRoutes } from '../../support/http/routes.js';
import { SchemaFixture } from '../../support/database/schema-fixture.js';
import { fixture } from '../../support/process/fixture.js';

const api = await TestApi.shared();
const schema = await fixture(SchemaFixture.create());

// Operations of the portal, the worker and the command line without words do not compile: see libs/audit/src/operations.ts.
it.each(
  keyedRoutes(api)
    .filter(({ method }) => isWrite(method))
    .map(({ method, path }) => `${method} ${path}`),
)('%s has words for the audit log', (operation) => expect(operationInWords(operation)).toMatch(/^[A-Z]/));

it('what functions of the database record has words', async () => {
  const { rows: sources } = await schema.owner.query<{ text: string }>(`
    SELECT p.prosrc AS text FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prosrc ~ 'audit_log|audit_login'
    UNION ALL SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t WHERE t.tgfoid = 'audit_credential'::regproc`);
  const calls = /audit_login\(login, '([^']+)'|audit_credential\('([^']+)'\)|login, '(\w+)', request/g;
  const recorded = sources.flatMap(({ text }) => [...text.matchAll(calls)].map(([, ...found]) => found.find(Boolean)!));
  expect(new Set(recorded)).toEqual(new Set(['sign in', 'set password', 'add passkey', 'remove passkey', 'change_name']));
  for (const operation of recorded) expect([operation, operationInWords(operation)]).toEqual([operation, expect.stringMatching(/^[A-Z]/)]);
});
