import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newAddress, type Office } from '../support/data/provisioning.js';
import { JoinDesk, registration } from '../support/portal/join-desk.js';
import { PASSWORD } from '../support/portal/portal.js';
import { Visitor } from '../support/portal/visitor.js';

const NEW = 'a new and longer password';

let desk: JoinDesk;
let office: Office;
let lock: pg.Client;

beforeAll(async () => {
  desk = await JoinDesk.open();
  office = await desk.office();
  lock = new pg.Client({ connectionString: desk.portal.database.adminUrl });
  await lock.connect();
});
afterAll(async () => {
  await lock.end();
  await desk.stop();
});

/** Resolves when the portal waits for the lock. */
const waiting = () =>
  vi.waitFor(async () => {
    const { rows } = await lock.query(
      'SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))',
    );
    expect(rows).toHaveLength(1);
  });

describe('while a request waits for the database', () => {
  it.each([
    ['who joins', 'SELECT FROM invites FOR UPDATE'],
    ['who sets a password with a link', 'SELECT FROM users FOR UPDATE'],
  ])('a person %s does not block password hashing for others in the same network', async (who, locked) => {
    const visitor = desk.visitor();
    const other = new Visitor(desk.portal, undefined, visitor.network);
    const { email } = await desk.person();
    let path = `/join/${await desk.invite(office, { scope: 'organization', role: 'student' })}`;
    let fields: Record<string, string> = registration(newAddress());
    if (who !== 'who joins') {
      await visitor.post('/forgot-password', { email });
      await desk.portal.resolveLinks();
      [path, fields] = [`/password/${(await desk.mail(email)).token}`, { password: NEW }];
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
    const code = await desk.invite(office, { scope: 'organization', role: 'student' });
    const email = newAddress();
    const twice = [desk.visitor(), desk.visitor()].map((visitor) => visitor.post(`/join/${code}`, registration(email)));
    expect((await Promise.all(twice)).map(({ status }) => status)).toEqual([303, 303]);
    const wrong = await desk.visitor().post(`/join/${code}`, { ...registration(email), password: `${PASSWORD}!` });
    expect(wrong.status).toBe(409);
  });
});
