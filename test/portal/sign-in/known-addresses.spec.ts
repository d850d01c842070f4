import argon2 from '@node-rs/argon2';
import { hashAs, hashPassword } from '@app/people';
import { Database } from '@app/database';
import { JoinFixture, registration, STUDENT } from '../../support/portal/join-fixture.js';
import { fixture } from '../../support/process/fixture.js';

/** The forms that take an address and may not reveal whether it is known. */
const FORMS: Record<string, (email: string) => [path: string, fields: Record<string, string>]> = {
  'POST /sign-in': (email) => ['/sign-in', { email, password: 'not the password' }],
  'POST /forgot-password': (email) => ['/forgot-password', { email }],
};
/** Public forms that take no address, or need an invite's secret first. */
const OTHERS = [
  'POST /sign-out', 'POST /sign-in/passkey/options', 'POST /sign-in/passkey', 'POST /password/:secret', 'POST /join',
  'POST /join/:secret', 'POST /join/:secret/passkey/options', 'POST /join/:secret/sign-out', 'POST /join/:secret/decline', 'POST /mails/:token',
]; // prettier-ignore
const TABLES = ['outbox', 'password_links', 'password_link_requests', 'portal_sessions', 'credentials', 'users'];

const joining = await fixture(JoinFixture.open());
const provisioning = await joining.provisioning();

const counts = async (): Promise<number[]> => {
  const columns = TABLES.map((table) => `(SELECT count(*)::int FROM ${table}) AS ${table}`).join(', ');
  const [row] = await joining.portal.make.query<Record<string, number>>(`SELECT ${columns}`);
  return TABLES.map((table) => row![table]!);
};

/** How many passwords a task hashes. */
async function hashing(task: () => Promise<unknown>): Promise<number> {
  const hash = vi.spyOn(argon2, 'hash');
  await task();
  const hashed = hash.mock.calls.length;
  hash.mockRestore();
  return hashed;
}

/** What the portal does for a form: its answer, its statements in order, the passwords it hashes, the rows it adds. */
async function workOf(form: string, email: string) {
  const statements: string[] = [];
  for (const method of ['lookUp', 'query', 'read', 'transaction'] as const) {
    const right = Object.getOwnPropertyDescriptor(Database.prototype, method)!.value as (...args: unknown[]) => unknown;
    vi.spyOn(joining.portal.app.get(Database), method).mockImplementation(function (this: Database, ...args: unknown[]) {
      const texts = args.map((arg) => (arg as { text?: string } | undefined)?.text).filter((text) => text !== undefined);
      // The readiness probe polls the database.
      if (!texts.join().includes('migrations')) statements.push(`${method} ${texts.join('; ')}`);
      return right.apply(this, args) as never;
    });
  }
  const before = await counts();
  const [path, fields] = FORMS[form]!(email);
  let answer = '';
  const passwords = await hashing(async () => {
    const { status, headers, text } = await joining.visitor().post(path, fields);
    answer = `${status} ${Object.keys(headers).sort().join()} ${text.replaceAll(email, '…')}`;
  });
  vi.restoreAllMocks();
  const after = await counts();
  return { answer, statements, passwords, added: after.map((count, index) => count - before[index]!) };
}

it('every public form is either tested here or takes no address', () => {
  const forms = joining.portal.routes().filter(({ method, access }) => method !== 'GET' && access === 'public');
  expect(forms.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([...Object.keys(FORMS), ...OTHERS].sort());
});

describe.each(Object.keys(FORMS))('%s', (form) => {
  it('does the same work for known addresses, with or without a password, and unknown ones', async () => {
    const { email: withPassword } = await joining.person();
    const { email: withoutPassword } = await joining.portal.make.user();
    const unknown = await workOf(form, 'unknown@example.org');
    expect(unknown.answer).not.toMatch(/^5/);
    expect(unknown.statements.length).toBeGreaterThan(1);
    expect(await workOf(form, withPassword)).toEqual(unknown);
    expect(await workOf(form, withoutPassword)).toEqual(unknown);
  });
});

it('joining with a code hashes as many passwords for a known address as for an unknown one', async () => {
  const code = await joining.invite(provisioning, STUDENT);
  const { email: known } = await joining.person();
  const join = (email: string) => hashing(() => joining.visitor().post(`/join/${code}`, registration(email)));
  const unknown = await join('unknown-to-join@example.org');
  expect(unknown).toBe(2);
  expect(await join(known)).toEqual(unknown);
});

it('hashes at the usual cost where there is no password, else as that password was hashed', async () => {
  const costOf = (stored: string) => stored.split('$').slice(1, 4);
  const usual = await hashPassword('a password');
  expect(costOf(await hashAs('a password', null))).toEqual(costOf(usual));
  for (const parameters of [{}, { memoryCost: 64, timeCost: 3 }, { parallelism: 2 }, { algorithm: 0 }, { salt: Buffer.alloc(8) }]) {
    const stored = await argon2.hash('a password', { memoryCost: 32, ...parameters });
    expect(await hashAs('a password', stored.replace(/[^$]*$/, ''))).toBe(stored);
  }
});
