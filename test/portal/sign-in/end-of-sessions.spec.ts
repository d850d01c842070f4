import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { cookieOf, PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';

const OTHER = 'an entirely different password';

let person: Someone;
let count = 0;

const portal = await TestPortal.shared();
beforeEach(async () => {
  person = await portal.someone('owner', { user: { email: `person-${++count}@example.org` } });
});

const isSignedIn = async (cookie: string) => (await portal.get('/account', cookie)).status === 200;

async function addPasskey(userId: string): Promise<Buffer> {
  return (await portal.make.row('passkeys', { userId })).credentialId;
}

/** Every way in which the credentials of a login change or another person takes it over. */
const ENDS: Record<string, (on: pg.Client, userId: string, email: string) => Promise<unknown>> = {
  'whoever proves the address takes the login over': (on, id, email) => on.query('SELECT take_login($1, $2, $3, false)', [id, email, 'a hash']),
  'whoever proves the address takes it over with a passkey': (on, id, email) => {
    const taking = `SELECT take_login_with_passkey($1, $2, gen_random_uuid(), $3, '\\x01', 0, '{}', 'new')`;
    return on.query(taking, [id, email, randomBytes(16)]);
  },
  'a link sets the password': async (on, id) => {
    const secret = randomBytes(32);
    await on.query(`SELECT add_password_link($1, $2, '1 hour')`, [secret, id]);
    await on.query('SELECT use_password_link($1, $2, NULL, NULL)', [secret, 'a hash']);
  },
  'the person changes the password': (on, id) =>
    on.query('SELECT change_password((SELECT secret_hash FROM portal_sessions WHERE user_id = $1 LIMIT 1), $2)', [id, 'a hash']),
  'the address changes': (on, id) => on.query(`UPDATE users SET email = 'x' || email, email_normalized = 'x' || email WHERE id = $1`, [id]),
};

async function onOwner<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: portal.database.ownerUrl });
  await client.connect();
  try {
    await client.query(`SET app.maintenance = 'on'`);
    return await work(client);
  } finally {
    await client.end();
  }
}

const waiting = () => portal.make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);

describe.each([
  ['a password', (id: string) => portal.setPassword(id)],
  ['a passkey alone', (id: string) => addPasskey(id)],
  ['no credential yet', () => Promise.resolve()],
])('the sessions of a login with %s end', (_what, open) => {
  it.each(Object.entries(ENDS))('when %s', async (_how, end) => {
    const { user, cookie } = person;
    await open(user.id);
    expect(await isSignedIn(cookie)).toBe(true);
    await onOwner((client) => end(client, user.id, user.email));
    expect(await isSignedIn(cookie)).toBe(false);
  });

  it.each(Object.entries(ENDS))('even if they started after the transaction began in which %s', async (_how, end) => {
    const { user } = person;
    await open(user.id);
    await onOwner(async (client) => {
      // The transaction's now() is earlier than the session.
      await client.query('BEGIN');
      await client.query('SELECT now()');
      const later = await portal.session(user.id);
      await end(client, user.id, user.email);
      await client.query('COMMIT');
      expect(await isSignedIn(later)).toBe(false);
    });
  });
});

describe('a sign-in in progress', () => {
  it.each(Object.entries(ENDS))('opens no session if meanwhile %s', async (_how, end) => {
    const { user } = person;
    await portal.setPassword(user.id);
    await onOwner(async (client) => {
      await client.query('BEGIN');
      await end(client, user.id, user.email);
      // The old password is still valid until the commit.
      const answer = portal.post('/sign-in', { email: user.email, password: PASSWORD }).then((sent) => sent);
      await vi.waitFor(async () => expect(await waiting()).toHaveLength(1));
      await client.query('COMMIT');
      const { status, headers } = await answer;
      expect([status, headers.location, cookieOf(await answer)]).toEqual([303, '/sign-in', null]);
    });
    expect(await portal.make.query('SELECT FROM portal_sessions WHERE user_id = $1', [user.id])).toEqual([]);
  });

  it('opens a session only with a current credential of the login', async () => {
    const { user } = person;
    const stranger = await portal.someone('owner');
    await portal.setPassword(user.id);
    const [passkey, foreign] = [await addPasskey(user.id), await addPasskey(stranger.user.id)];
    const [{ password_hash: hash } = { password_hash: '' }] = await portal.make.query<{ password_hash: string }>(
      'SELECT password_hash FROM credentials WHERE user_id = $1',
      [user.id],
    );
    const opens = async (...shown: [string | null, Buffer | null]) => {
      const secret = createHash('sha256').update(randomBytes(32)).digest();
      const opened = await portal.make.query(`SELECT * FROM open_portal_session(gen_random_uuid(), $1, $2, 'a browser', '192.0.2.0', $3, $4, NULL)`, [
        secret,
        user.id,
        ...shown,
      ]);
      return opened.length === 1;
    };
    expect(await opens(hash, null)).toBe(true);
    expect(await opens(null, passkey)).toBe(true);
    expect(await opens(null, null)).toBe(false);
    expect(await opens('another hash', null)).toBe(false);
    expect(await opens(null, foreign)).toBe(false);
    await portal.make.query('DELETE FROM passkeys WHERE user_id = $1', [user.id]);
    expect(await opens(null, passkey)).toBe(false);
  });
});

it('keeps the person who changes the password signed in, with a new session', async () => {
  const { user, cookie } = person;
  await portal.setPassword(user.id);
  const signedIn = cookieOf(await portal.post('/sign-in', { email: user.email, password: PASSWORD }, cookie))!;
  expect([await isSignedIn(signedIn), await isSignedIn(cookie)]).toEqual([true, false]);
  const changed = await portal.post('/account/password', { current_password: PASSWORD, password: OTHER }, signedIn);
  expect([await isSignedIn(signedIn), await isSignedIn(cookieOf(changed)!)]).toEqual([false, true]);
});
