import { randomUUID } from 'node:crypto';
import { type Someone, TestPortal } from '../../support/portal/portal.js';
import { fixture } from '../../support/process/fixture.js';

const portal = await fixture(TestPortal.start({ SMTP_URL: 'smtp://127.0.0.1:1', INVITE_MAILS_PER_DAY: '5' }));
const { make } = portal;

const DAY = 86_400_000;

const homeOf = ({ organization }: Someone) => `/o/${organization.slug}`;
const look = async (someone: Someone, path = '') => (await portal.get(homeOf(someone) + path, someone.cookie).expect(200)).text;

/** The links of the section, without the organization's path. */
function needsOf(text: string, someone: Someone): [href: string, words: string][] {
  const [section = ''] = /<section aria-labelledby="needs">[^]*?<\/section>/.exec(text) ?? [];
  const links = section.matchAll(new RegExp(`<a href="${homeOf(someone)}([^"]*)">([^<]*)</a>`, 'g'));
  return [...links].map(([, href, words]) => [href!, words!]);
}

const ago = (days: number) => new Date(Date.now() - days * DAY);

const key = (at: string, wish: { expires?: Date | null; used?: Date | null; created?: Date; revoked?: boolean; replaced?: boolean } = {}) =>
  make.query(
    `WITH next AS (INSERT INTO api_keys (id, organization_id, name, first_four, last_four, key_hash)
       SELECT gen_random_uuid(), $1, 'next', 'aaaa', 'bbbb', sha256(gen_random_uuid()::text::bytea) WHERE $6 RETURNING id)
     INSERT INTO api_keys (id, organization_id, name, first_four, last_four, key_hash, expires_at, last_used_at, created_at, revoked_at, replaced_by, replaced_at)
     SELECT gen_random_uuid(), $1, 'key', 'aaaa', 'bbbb', sha256(gen_random_uuid()::text::bytea), $2, $3, $4, CASE WHEN $5 THEN now() END,
       (SELECT id FROM next), (SELECT now() FROM next)`,
    [at, wish.expires ?? null, wish.used ?? null, wish.created ?? new Date(), wish.revoked ?? false, wish.replaced ?? false],
  );

const mail = (at: string, status: string, created = new Date()) =>
  make.query(
    `INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, payload, status, created_at)
     VALUES (gen_random_uuid(), $1, 'email', 'organization_invite', 'ada@example.org', 'ada@example.org', '\\x00', $2, $3)`,
    [at, status, created],
  );

const invite = (at: string, expires: Date, ended = false) =>
  make.row('invites', {
    ...{ organizationId: at, scope: 'organization', role: 'student', targetId: at, email: `${randomUUID()}@example.org`, expiresAt: expires },
    ...(ended && { revokedAt: new Date() }),
  });

it('is quiet where nothing is to be done', async () => {
  const someone = await portal.someone('owner');
  const text = await look(someone);
  expect(text).not.toMatch(/Needs attention|class="figures"/);
  expect(text).toContain('No lessons today.');
  const steps = [...text.matchAll(/<li>(?:<span class="quiet">|<a href="([^"]*)">)([^<]*)/g)].map(([, href, words]) => [words, href]);
  expect(steps.map(([words]) => words)).toEqual([
    'Set your prices',
    'Invite a tutor',
    'Add a student, with a parent',
    'Book a lesson',
    'Issue an invoice',
  ]);
  for (const [, href] of steps) await portal.get(href!, someone.cookie).expect(200);
});

it('counts what needs attention, each with a link to those alone', async () => {
  const [mine, theirs] = [await portal.someone('owner'), await portal.someone('owner')];
  for (const { id } of [mine.organization, theirs.organization]) {
    const waiting = await make.tutor(id);
    await make.query(`UPDATE members SET status = 'pending', approval_requested_at = now() WHERE user_id = $1`, [waiting.id]);
    for (const status of ['dead', 'dead', 'failed', 'sent']) await mail(id, status, ago(2));
    // Two that expire soon; not those that do not, have expired, are revoked or were replaced.
    await key(id, { expires: ago(-13.9) });
    await key(id, { expires: ago(-1) });
    for (const wish of [{ expires: ago(-14.1) }, { expires: ago(1) }, { expires: ago(-1), revoked: true }, { expires: ago(-1), replaced: true }])
      await key(id, wish);
    // Three that nobody has used for long.
    await key(id, { created: ago(31) });
    await key(id, { created: ago(90), used: ago(30.1) });
    await key(id, { created: ago(90), used: ago(31), expires: ago(-60) });
    for (const wish of [
      { created: ago(90), used: ago(29) },
      { created: ago(90), revoked: true },
      { created: ago(90), expires: ago(1) },
    ])
      await key(id, wish);
    await invite(id, ago(-2.9));
    for (const expires of [-3.1, 1]) await invite(id, ago(expires));
    await invite(id, ago(-1), true);
  }
  const text = await look(mine);
  expect(needsOf(text, mine)).toEqual([
    ['/people?status=waiting', '1 person is waiting for your approval'],
    ['/people/invites?ending=soon', '1 open invite expires within 3 days'],
    ['/outbox?status=dead', '2 emails could not be delivered'],
    ['/keys?expiring=14', '2 API keys expire within 14 days'],
    ['/keys?unused=30', '3 API keys have not been used for 30 days'],
  ]);
  for (const [href] of needsOf(text, mine)) await look(mine, href.replaceAll('&amp;', '&'));
  expect((await look(mine, '/people/invites?ending=soon')).match(/@example\.org/g)).not.toBeNull();
  const emails = new Set((await look(mine, '/people/invites?ending=soon')).match(/[\w-]+@example\.org/g));
  expect(emails.size).toBe(1);
  expect(new Set((await look(mine, '/people/invites')).match(/[\w-]{36}@example\.org/g)).size).toBe(3);
});

it('shows the day in figures, in the organization’s time zone', async () => {
  const someone = await portal.someone('admin');
  const { id } = someone.organization;
  await make.query(`UPDATE organizations SET time_zone = 'Pacific/Auckland' WHERE id = $1`, [id]);
  const [{ midnight }] = (await make.query<{ midnight: Date }>(
    `SELECT date_trunc('day', now() AT TIME ZONE 'Pacific/Auckland') AT TIME ZONE 'Pacific/Auckland' AS midnight`,
  )) as [{ midnight: Date }];
  const tutor = await make.tutor(id);
  const [ann, ben] = [await make.student(id), await make.student(id)];
  const at = (hours: number) => new Date(midnight.getTime() + hours * 3_600_000);
  for (const [hours, status] of [
    [0, 'completed'],
    [5, 'scheduled'],
    [6, 'cancelled'],
    [-1, 'scheduled'],
    [26, 'scheduled'],
  ] as const) {
    const session = await make.session(id, { tutorId: tutor.id, startsAt: at(hours), status });
    for (const student of [ann, ben])
      await make.query(
        `INSERT INTO lesson_participants (id, organization_id, session_id, student_id, status) VALUES (gen_random_uuid(), $1, $2, $3, 'accepted') ON CONFLICT DO NOTHING`,
        [id, session.id, student.id],
      );
  }
  const text = await look(someone);
  expect(text).toContain('2 lessons with 2 students, 1 done');
  for (const { id: person } of [tutor, ann, ben]) expect(text).toContain(`<a href="${homeOf(someone)}/people/${person}">`);
});

it('names the new people of the week, and leads to all of them', async () => {
  const someone = await portal.someone('owner');
  const { id } = someone.organization;
  const old = await make.student(id, { user: { firstName: 'Long', lastName: 'Ago' } });
  await make.query(`UPDATE members SET created_at = now() - interval '8 days' WHERE user_id = $1`, [old.id]);
  for (let n = 0; n < 6; n++) await make.student(id, { user: { firstName: 'New', lastName: `Student ${n}` } });
  const text = await look(someone);
  expect(text.match(/New Student \d/g)).toHaveLength(5);
  expect(text).toContain(`href="${homeOf(someone)}/people?days=7"`);
  const list = await look(someone, '/people?days=7');
  expect(new Set(list.match(/New Student \d/g)).size).toBe(6);
  expect(list).not.toContain('Long Ago');
  expect(await look(someone, '/people?days=30')).toContain('Long Ago');
  // Invalid values are ignored.
  expect(await look(someone, '/people?days=8')).toContain('Long Ago');
});

describe('the outbox', () => {
  it('says how much of the day’s allowance is used up, and when the next mail is free', async () => {
    const someone = await portal.someone('owner');
    const { id } = someone.organization;
    for (const hours of [25, 20, 10, 3, 2]) await mail(id, 'sent', new Date(Date.now() - hours * 3_600_000));
    const before = await look(someone, '/outbox');
    expect(before).toContain('4 of 5 emails in the last 24 hours.');
    expect(before).not.toContain('no invitations are mailed');
    await mail(id, 'sent');
    const [oldest] = await make.query<{ at: Date }>(
      `SELECT min(created_at) + interval '1 day' AS at FROM outbox WHERE organization_id = $1 AND created_at > now() - interval '1 day'`,
      [id],
    );
    const text = await look(someone, '/outbox');
    expect(text).toContain('5 of 5 emails');
    expect(text).toContain(`Until <time datetime="${oldest!.at.toISOString()}">`);
  });

  it('finds a recipient by a part of the address, and shows how many notices a mail takes in', async () => {
    const someone = await portal.someone('owner');
    const { id } = someone.organization;
    for (const address of ['Ada@example.org', 'a_a@example.org', '100%@example.org'])
      await make.query(
        `INSERT INTO outbox (id, organization_id, topic, kind, recipient, email_normalized, payload, gathered_count)
         VALUES (gen_random_uuid(), $1, 'email', 'key_created', $2, lower($2), '\\x00', 28)`,
        [id, address],
      );
    const found = async (query: string) => [...(await look(someone, `/outbox?${query}`)).matchAll(/To (\S+@\S+)<\/div>/g)].map(([, to]) => to).sort();
    expect(await found('to=ADA%40')).toEqual(['Ada@example.org']);
    expect(await found('to=a_a')).toEqual(['a_a@example.org']);
    expect(await found('to=%25')).toEqual(['100%@example.org']);
    expect(await found('to=%20ada%20&status=sent')).toEqual([]);
    expect(await found('to=nobody')).toEqual([]);
    expect(await found(`to=${'x'.repeat(101)}`)).toHaveLength(3);
    expect(await found('to=%00')).toHaveLength(3);
    expect(await look(someone, '/outbox')).toContain('and 28 more notices');
  });
});

it('lists who is new, and not who was removed since, however many', async () => {
  const someone = await portal.someone('owner');
  const { id } = someone.organization;
  await make.student(id, { user: { firstName: 'Stays', lastName: 'Here' } });
  for (let more = 0; more < 7; more++) await make.member(id, { role: 'student', status: 'archived', user: { firstName: 'Gone' } });
  const text = await look(someone);
  expect(text).toContain('Stays Here');
  expect(text).not.toContain('Gone');
});
