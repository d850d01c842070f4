import { randomBytes, randomUUID } from 'node:crypto';
import supertest from 'supertest';
import { TestApi } from '../../support/http/api.js';
import { cookieOf, PASSWORD, type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const ENCRYPTION_KEY = randomBytes(32).toString('hex');

const portal = await fixture(TestPortal.start({ ENCRYPTION_KEY, TRUST_PROXY: 'true' }));
const api = await fixture(TestApi.start({ ENCRYPTION_KEY }, portal.database));

const pathOf = ({ organization }: Someone) => `/o/${organization.slug}/audit`;

interface Entry {
  operation?: string;
  userId?: string;
  keyId?: string;
  requestId?: string;
  status?: number;
  result?: string;
  details?: object;
  network?: string;
  at?: string;
}

async function entry(organizationId: string, wish: Entry = {}): Promise<string> {
  const { operation = 'POST /v1/sessions', userId = null, keyId = null, requestId = randomUUID(), status = 200 } = wish;
  const [row] = await portal.make.query<{ id: string }>(
    `INSERT INTO audit_log (id, organization_id, operation, user_id, api_key_id, request_id, status, result, details, network, created_at)
     VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10::timestamptz, now())) RETURNING id`,
    [organizationId, operation, userId, keyId, requestId, status, wish.result ?? 'done', JSON.stringify(wish.details ?? {}), wish.network, wish.at],
  );
  return row!.id;
}

/** The entries that a page shows, as text. */
function shown(html: string): string[] {
  return [...html.matchAll(/<div class="break">([^]*?)<\/div>/g)].map(([, cell]) =>
    cell!
      .replaceAll(/<[^>]+>/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
}

const look = async (someone: Someone, query = '') => (await portal.get(pathOf(someone) + query, someone.cookie).expect(200)).text;

const sheet = async (someone: Someone, query = '') => {
  const { text, headers } = await portal.get(`${pathOf(someone)}/download${query}`, someone.cookie).expect(200);
  expect(headers['content-type']).toBe('text/csv; charset=utf-8');
  expect(headers['content-disposition']).toContain(`attachment; filename="audit-${someone.organization.slug}`);
  return text.replace('\ufeff', '').trimEnd().split('\r\n');
};

describe('the audit page', () => {
  it('says who did what, when and from where, with the names that the organization sees', async () => {
    const owner = await portal.someone('owner', { user: { firstName: 'Olive', lastName: 'Owner' } });
    const { id: school } = owner.organization;
    const tutor = await portal.make.tutor(school, { user: { firstName: 'Ben', lastName: '<b>Cole' } });
    const key = await api.keys.create(school, { name: 'Website' });
    const at = '2026-07-05T22:30:00Z';
    await entry(school, { operation: 'end membership', userId: owner.user.id, details: { user_id: tutor.id }, network: '203.0.113.7', at });
    await entry(school, { operation: 'PUT /v1/tutors/:tutor_id', keyId: key.id, details: { tutor_id: tutor.id }, network: '198.51.100.0' });
    await entry(school, { operation: 'POST /v1/sessions', keyId: key.id, status: 409, result: 'session_overlap' });
    await entry(school, { operation: 'change role', requestId: 'cli', details: { user_id: owner.user.id, from: 'admin', to: 'owner' } });
    await entry(school, { operation: 'publish scheduled post', requestId: 'worker-1' });
    await entry(school, { operation: 'an operation of a former version' });
    await portal.make.query(
      `INSERT INTO refusals VALUES ($1, $2, 'POST /v1/sessions', 409, date_trunc('minute', now()), 1200), ($1, $2, 'POST /v1/sessions', 409, now() - interval '2 hours', 5)`,
      [school, key.id],
    );
    const text = await look(owner);
    expect(shown(text)).toEqual(
      expect.arrayContaining([
        'Olive Owner: Ended the membership of Ben &lt;b&gt;Cole',
        'API key “Website”: Changed the tutor Ben &lt;b&gt;Cole',
        'API key “Website”: Not done (1,200 times in that hour): session overlap Created a lesson',
        'An operator of this service: Changed the role of Olive Owner from admin to owner',
        'An operator of this service: Created the API key “Website”',
        'This service: Published a scheduled blog post',
        'This service: an operation of a former version',
      ]),
    );
    expect(text).toContain('datetime="2026-07-05T22:30:00.000Z">');
    expect(text).toContain('203.0.113.7');
    expect(text).toContain('198.51.100.0');
    expect(text).not.toContain('<b>Cole');
  });

  it('is filtered by person, key and day in every combination, and each name leads to its filter', async () => {
    const owner = await portal.someone('owner');
    const { id: school } = owner.organization;
    await portal.make.query(`UPDATE organizations SET time_zone = 'Australia/Melbourne' WHERE id = $1`, [school]);
    const people = [owner.user.id, (await portal.make.tutor(school)).id, (await portal.make.student(school)).id];
    const keys = [(await api.keys.create(school, { name: 'One' })).id, (await api.keys.create(school, { name: 'Two' })).id];
    await portal.make.query('DELETE FROM audit_log WHERE organization_id = $1', [school]);
    // The last and the first minute of a day in Melbourne.
    const days = [
      ['2026-03-01', '2026-03-01T12:59:59Z'],
      ['2026-03-02', '2026-03-01T13:00:00Z'],
    ] as const;
    const all: { id: string; people: (string | undefined)[]; key: string | undefined; day: string }[] = [];
    for (const [day, at] of days)
      for (const actor of [people[0], keys[0], keys[1]])
        for (const about of [undefined, people[1], people[2], people[0]]) {
          const who = actor === people[0] ? { userId: actor } : { keyId: actor };
          const requestId = randomUUID();
          await entry(school, { operation: 'end membership', ...who, requestId, details: about ? { user_id: about } : {}, at });
          all.push({ id: requestId, people: [actor, about], key: who.keyId, day });
        }
    for (const person of [undefined, ...people, randomUUID()])
      for (const key of [undefined, ...keys, randomUUID()])
        for (const day of [undefined, '2026-03-01', '2026-03-02', '2026-03-03']) {
          const chosen = Object.entries({ person, key, day }).filter((pair): pair is [string, string] => pair[1] !== undefined);
          const query = `?${new URLSearchParams(chosen).toString()}`;
          const wanted = all.filter((row) => (!person || row.people.includes(person)) && (!key || row.key === key) && (!day || row.day === day));
          const lines = await sheet(owner, query);
          expect([
            query,
            lines
              .slice(1)
              .map((line) => line.split(',')[6])
              .sort(),
          ]).toEqual([query, wanted.map(({ id }) => id).sort()]);
        }
    const text = await look(owner, '?day=2026-03-02');
    expect(text).toContain(`href="${pathOf(owner)}?person=${people[1]}&amp;day=2026-03-02"`);
    expect(text).toContain(`href="${pathOf(owner)}?key=${keys[1]}&amp;day=2026-03-02"`);
    // Invalid values are ignored.
    expect(shown(await look(owner, '?day=2026-02-30&person=x&key=%00&before=1'))).toHaveLength(24);
    expect(shown(await look(owner, '?day=2026-03-01T10:00:00Z'))).toHaveLength(24);
  });

  it('pages by keyset, and downloads all pages', async () => {
    const owner = await portal.someone('admin');
    const { id: school } = owner.organization;
    for (let n = 0; n < 60; n++) await entry(school, { requestId: `request-${n}`, userId: owner.user.id, at: `2026-05-0${1 + (n % 3)}T00:00:00Z` });
    for (const query of ['', `?person=${owner.user.id}`]) {
      const text = await portal.walk(pathOf(owner) + query, owner.cookie, 'Older<');
      const seen = [...text.matchAll(/request-\d+/g)].map(([name]) => name);
      expect([seen.length, new Set(seen).size]).toEqual([60, 60]);
    }
    await portal.make.query(
      `INSERT INTO audit_log (id, organization_id, operation, request_id, status, result)
       SELECT gen_random_uuid(), $1, 'test_build_hook', 'bulk', 200, 'done' FROM generate_series(1, 2500)`,
      [school],
    );
    expect(await sheet(owner)).toHaveLength(1 + 2560);
  });

  it('downloads no formulas', async () => {
    for (const evil of ['=cmd|x', '+1', '-1', '@SUM(A1)', '\tx', '\rx']) {
      const owner = await portal.someone('owner');
      await portal.make.query('UPDATE users SET first_name = $2, last_name = $3 WHERE id = $1', [owner.user.id, evil, '"quoted", name']);
      await entry(owner.organization.id, { userId: owner.user.id, result: evil, status: 400 });
      const text = (await sheet(owner)).join('\r\n');
      expect(text).not.toMatch(/(^|,|\n)"?[=+\-@\t\r](?!\n)/);
      expect(text).toContain(`'${evil}`);
    }
  });

  it.each(['\n', '\r', '\r\n'])('downloads no row that a name with a line break (%j) forges', async (lineBreak) => {
    const owner = await portal.someone('owner');
    const name = `Eve${lineBreak}=1+1,Nobody did this`;
    await portal.make.query('UPDATE users SET first_name = $2 WHERE id = $1', [owner.user.id, name]);
    await entry(owner.organization.id, { userId: owner.user.id });
    const { text } = await portal.get(`/o/${owner.organization.slug}/audit/download`, owner.cookie).expect(200);
    expect(text).toContain(`,"${name} ${owner.user.lastName}",`);
  });

  it('shows nothing of another organization, whoever and whatever is asked for', async () => {
    const [mine, theirs] = [await portal.someone('owner'), await portal.someone('owner', { user: { firstName: 'Theodora', lastName: 'Theirs' } })];
    const key = await api.keys.create(theirs.organization.id, { name: 'Their key' });
    await entry(theirs.organization.id, { userId: theirs.user.id, keyId: key.id, requestId: 'theirs' });
    // A row of mine may name anybody.
    await entry(mine.organization.id, { operation: 'end membership', requestId: 'mine', details: { user_id: theirs.user.id } });
    for (const query of ['', `?person=${theirs.user.id}`, `?key=${key.id}`, `?person=${theirs.user.id}&key=${key.id}`])
      for (const text of [await look(mine, query), (await sheet(mine, query)).join('\n')]) expect(text).not.toMatch(/Theodora|Their key|theirs/);
  });
});

describe('what is recorded', () => {
  const rows = (organizationId: string) =>
    portal.make.query<{ operation: string; user_id: string; network: string | null }>(
      'SELECT operation, user_id, network FROM audit_log WHERE organization_id = $1 ORDER BY created_at, id',
      [organizationId],
    );

  const signIn = async (email: string) => {
    const answer = await portal.post('/sign-in', { email, password: PASSWORD }).set('X-Forwarded-For', '203.0.113.9').expect(303);
    return cookieOf(answer)!;
  };

  it('of managers: sign-ins with their network, and changes of their credentials, in every organization that they manage', async () => {
    const owner = await portal.someone('owner');
    const { user } = owner;
    const [managed, taught, invited] = [await portal.make.organization(), await portal.make.organization(), await portal.make.organization()];
    const tie = (id: string, role: string, status: string) =>
      portal.make.query(
        `INSERT INTO members (id, organization_id, user_id, role, status, accepted_at) VALUES (gen_random_uuid(), $1, $2, $3, $4, CASE $4 WHEN 'accepted' THEN now() END)`,
        [id, user.id, role, status],
      );
    await tie(managed.id, 'admin', 'accepted');
    await tie(taught.id, 'tutor', 'accepted');
    await tie(invited.id, 'admin', 'pending');
    await portal.setPassword(user.id);
    const cookie = await signIn(user.email);
    const other = 'another long enough password';
    await portal.post('/account/password', { current_password: PASSWORD, password: other }, cookie);
    const expected = [
      { operation: 'sign in', user_id: user.id, network: '203.0.113.9' },
      { operation: 'set password', user_id: user.id, network: null },
    ];
    for (const { id } of [owner.organization, managed]) expect(await rows(id)).toEqual(expect.arrayContaining(expected));
    for (const { id } of [taught, invited]) expect(await rows(id)).toEqual([]);
    await portal.make.query(
      `INSERT INTO passkeys (id, user_id, credential_id, public_key, sign_count, name) VALUES (gen_random_uuid(), $1, '\\x07', '\\x01', 0, 'x')`,
      [user.id],
    );
    await portal.make.query('DELETE FROM passkeys WHERE user_id = $1', [user.id]);
    const operations = (await rows(managed.id)).map(({ operation }) => operation);
    expect(operations.slice(-2).sort()).toEqual(['add passkey', 'remove passkey']);
  });

  it('of nobody else: no organization learns when or from where tutors, students and parents sign in', async () => {
    const { organization } = await portal.someone('owner');
    for (const role of ['tutor', 'student'] as const) {
      const { user } = await portal.someone(role, { organization });
      await portal.setPassword(user.id);
      await signIn(user.email);
    }
    const parent = await portal.make.parent(organization.id, {});
    await portal.setPassword(parent.id);
    await signIn(parent.email);
    expect(await rows(organization.id)).toEqual([]);
  });

  it('has the network of managers and keys, but not of people who act for themselves', async () => {
    const owner = await portal.someone('owner');
    const { organization } = owner;
    const from = { 'X-Forwarded-For': '203.0.113.9' };
    const { user: tutor, cookie } = await portal.someone('tutor', { organization });
    await portal.post(`/organizations/${organization.id}/leave`, {}, cookie).set(from).expect(303);
    const { user: removed } = await portal.someone('tutor', { organization });
    await portal.post(`/o/${organization.slug}/people/${removed.id}/remove`, {}, owner.cookie).set(from).expect(303);
    const key = await api.keys.create(organization.id, { name: 'Writes', scopes: ['write', 'tutors:write'] });
    await supertest(api.app.getHttpServer()).post('/v1/groups').set('Authorization', `Token token=${key.key}`).send({ name: 'Chess' }).expect(201);
    const found = await portal.make.query(
      `SELECT operation, user_id, network FROM audit_log WHERE organization_id = $1 AND operation IN ('end membership', 'POST /v1/groups') ORDER BY created_at`,
      [organization.id],
    );
    expect(found).toEqual([
      { operation: 'end membership', user_id: tutor.id, network: null },
      { operation: 'end membership', user_id: owner.user.id, network: '203.0.113.9' },
      { operation: 'POST /v1/groups', user_id: null, network: expect.stringMatching(/127\.0\.0\.1|::/) as string },
    ]);
  });

  it('keeps networks and sign-ins for 90 days, and changes for years', async () => {
    const owner = await portal.someone('owner');
    const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    for (const days of [89, 91])
      for (const operation of ['sign in', 'test_build_hook']) await entry(owner.organization.id, { operation, network: '203.0.113.9', at: at(days) });
    await portal.make.query('SELECT * FROM purge_expired()');
    expect(await rows(owner.organization.id)).toMatchObject([
      { operation: 'test_build_hook', network: null },
      { network: '203.0.113.9' },
      { network: '203.0.113.9' },
    ]);
  });
});
