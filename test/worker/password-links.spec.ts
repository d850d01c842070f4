import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { PasswordLinksService } from '../../apps/worker/src/email/password-links.service.js';
import { OutboxFixture } from '../support/worker/worker.js';
import { fixture } from '../support/process/fixture.js';

let portal: pg.Client;

const room = await fixture(OutboxFixture.open());

beforeAll(async () => {
  portal = new pg.Client({ connectionString: room.database.portalUrl });
  await portal.connect();
});
afterEach(async () => {
  await room.clear();
  await room.make.query('DELETE FROM password_link_requests');
});
afterAll(() => portal.end());

/** Requests a link as the portal does. */
async function request(address: string, { life = '1 hour', kind = 'password_reset' } = {}): Promise<void> {
  await portal.query(`SELECT request_password_link(gen_random_uuid(), $1, $2, $3::interval, $4, $5)`, [
    address,
    randomBytes(32),
    life,
    randomBytes(40),
    kind,
  ]);
}

const requests = () => room.make.query('SELECT email_normalized FROM password_link_requests');
const grow = (age: string) =>
  room.make.query(`UPDATE password_link_requests SET requested_at = requested_at - $1::interval, expires_at = expires_at - $1::interval`, [age]);
const recipients = async () => (await room.rows()).map(({ recipient }) => recipient).sort();
const resolve = async () => (await room.idleWorker()).get(PasswordLinksService).runOnce();

describe('requests for a mailed link', () => {
  it('are resolved by the worker, which mails known addresses and stores none', async () => {
    const known = await room.make.user();
    await request(known.email);
    await request('unknown@example.org');
    expect(await requests()).toHaveLength(2);
    expect(await recipients()).toEqual([]);
    await resolve();
    expect(await recipients()).toEqual([known.email]);
    expect(await requests()).toEqual([]);
    expect(JSON.stringify(await room.make.query('SELECT * FROM outbox'))).not.toContain('unknown@example.org');
  });

  it('get a link that is valid for the rest of its hour', async () => {
    const { id, email } = await room.make.user();
    await request(email);
    await grow('40 minutes');
    await resolve();
    const [link] = await room.make.query<{ left: number }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 / 60 AS left FROM password_links WHERE user_id = $1`,
      [id],
    );
    expect(link!.left).toBeGreaterThan(10);
    expect(link!.left).toBeLessThan(21);
  });

  it('are deleted without a mail after an hour, by the worker or by the next request', async () => {
    const { email } = await room.make.user();
    await request(email, { life: '1 day' });
    await request('unknown@example.org');
    await grow('61 minutes');
    await request('later@example.org');
    expect(await requests()).toEqual([{ email_normalized: 'later@example.org' }]);
    await request(email, { life: '1 day' });
    await grow('61 minutes');
    await resolve();
    expect([await requests(), await recipients()]).toEqual([[], []]);
  });

  it('for confirmation are mailed only to unproven addresses', async () => {
    const open = await room.make.user();
    const proven = await room.make.user({ emailVerifiedAt: new Date() });
    for (const { email } of [open, proven]) await request(email, { kind: 'address_confirmation' });
    await resolve();
    expect(await room.rows()).toMatchObject([{ recipient: open.email, kind: 'address_confirmation' }]);
    expect(await requests()).toEqual([]);
  });

  it('for a warning of wrong passwords are mailed only where there is a password', async () => {
    const [warned, other] = [await room.make.user(), await room.make.user()];
    await room.make.query('INSERT INTO credentials (user_id, password_hash) VALUES ($1, $2)', [warned.id, 'a hash']);
    for (const { email } of [warned, other, { email: 'unknown@example.org' }]) {
      await request(email, { kind: 'wrong_passwords' });
    }
    await resolve();
    expect(await room.rows()).toMatchObject([{ recipient: warned.email, kind: 'wrong_passwords' }]);
    expect([await requests(), await room.make.query('SELECT FROM password_links WHERE user_id = $1', [warned.id])]).toEqual([[], []]);
  });

  it('are mailed once by several concurrent workers', async () => {
    const people = await Promise.all(Array.from({ length: 120 }, () => room.make.user()));
    for (const { email } of people) await request(email);
    await Promise.all([resolve(), resolve(), resolve()]);
    expect(await recipients()).toEqual(people.map(({ email }) => email).sort());
    expect(await requests()).toEqual([]);
  });

  it('are kept, with nothing written, if the look-up fails', async () => {
    const { email } = await room.make.user();
    await request(email);
    await room.make.query('ALTER TABLE outbox ADD CONSTRAINT broken CHECK (false) NOT VALID');
    await expect(resolve()).rejects.toThrow(/broken/);
    await room.make.query('ALTER TABLE outbox DROP CONSTRAINT broken');
    expect(await requests()).toHaveLength(1);
    expect(await room.make.query('SELECT FROM password_links WHERE email_normalized = $1', [email])).toEqual([]);
    await resolve();
    expect(await recipients()).toEqual([email]);
  });
});
