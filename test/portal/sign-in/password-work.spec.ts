import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import pg from 'pg';
import { newAddress } from '../../support/data/provisioning.js';
import { ApiProcess, buildOnce } from '../../support/http/api-process.js';
import { JoinFixture, registration, STUDENT } from '../../support/portal/join-fixture.js';
import { PASSWORD } from '../../support/portal/portal.js';
import { Visitor } from '../../support/portal/visitor.js';
import { fixture } from '../../support/process/fixture.js';

const NEW = 'a new and longer password';

let lock: pg.Client;

const joining = await fixture(JoinFixture.open());
const provisioning = await joining.provisioning();

beforeAll(async () => {
  lock = new pg.Client({ connectionString: joining.portal.database.adminUrl });
  await lock.connect();
});
afterAll(async () => {
  await lock.end();
});

/** Resolves when the portal waits for the lock. */
const waiting = () =>
  vi.waitFor(async () => {
    const { rows } = await lock.query('SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))');
    expect(rows).toHaveLength(1);
  });

describe('while a request waits for the database', () => {
  it.each([
    ['who joins', 'SELECT FROM invites FOR UPDATE'],
    ['who sets a password with a link', 'SELECT FROM users FOR UPDATE'],
  ])('a person %s does not block password hashing for others in the same network', async (who, locked) => {
    const visitor = joining.visitor();
    const other = new Visitor(joining.portal, undefined, visitor.network);
    const { email } = await joining.person();
    let path = `/join/${await joining.invite(provisioning, STUDENT)}`;
    let fields: Record<string, string> = registration(newAddress());
    if (who !== 'who joins') {
      await visitor.post('/forgot-password', { email });
      await joining.portal.resolveLinks();
      [path, fields] = [`/password/${(await joining.mail(email)).token}`, { password: NEW }];
    }
    await lock.query('BEGIN');
    await lock.query(locked);
    const slow = visitor.post(path, fields);
    try {
      await waiting();
      expect((await other.post('/sign-in', { email: 'nobody@example.org', password: NEW })).status).toBe(422);
    } finally {
      await lock.query('ROLLBACK');
    }
    expect((await slow).status).toBe(303);
  });
});

describe('a person who sends the form twice', () => {
  it('joins once and does not see a wrong-password error', async () => {
    const code = await joining.invite(provisioning, STUDENT);
    const email = newAddress();
    const twice = [joining.visitor(), joining.visitor()].map((visitor) => visitor.post(`/join/${code}`, registration(email)));
    expect((await Promise.all(twice)).map(({ status }) => status)).toEqual([303, 303]);
    const wrong = await joining.visitor().post(`/join/${code}`, { ...registration(email), password: `${PASSWORD}!` });
    expect(wrong.status).toBe(409);
  });
});

it('hashing has a lower priority than pages', async () => {
  await buildOnce();
  const settings = { PORTAL_DATABASE_URL: joining.portal.database.portalUrl, ENCRYPTION_KEY: randomBytes(32).toString('hex') };
  const portal = await ApiProcess.start(settings, [], 'portal');
  try {
    const threads = readdirSync(`/proc/${portal.pid}/task`);
    const hashing = threads.filter((thread) => readFileSync(`/proc/${portal.pid}/task/${thread}/comm`, 'latin1').startsWith('libuv-worker'));
    expect(hashing).toHaveLength(4);
    const usual = getPriority(portal.pid);
    for (const thread of hashing) expect(getPriority(Number(thread))).toBe(Math.max(usual, 10));
  } finally {
    await portal.stop();
  }
});
