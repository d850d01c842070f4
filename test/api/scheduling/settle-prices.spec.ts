import { CalendarFixture } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';

type Settled = { dry_run: boolean; sessions: number; changed: { session_id: string; before: Prices | null; after: Prices }[] };
type Prices = { participants: { student_id: string; rate_cents: number | null }[]; tutor_pay_rate_cents: number | null };

const api = await TestApi.shared();
const { make } = api;
const FROM = '2098-01-01';

/** An organization whose prices have risen since these sessions were booked. */
async function risen(...sessions: object[]) {
  const at = await CalendarFixture.open(api);
  await at.cell({ student_rate_cents: 8000, tutor_pay_mode: 'flat', tutor_flat_rate_cents: 4000 });
  const ids: string[] = [];
  for (const [day, more] of sessions.entries()) {
    const booked = await at.book(`2098-03-${10 + day}T05:00:00Z`, more);
    expect(booked.status).toBe(201);
    ids.push(booked.body.id);
  }
  await make.query(`UPDATE rate_cells SET student_rate_cents = 9000, tutor_flat_rate_cents = 4500 WHERE organization_id = $1`, [at.school]);
  const key = await api.key(at.school, { scopes: ['read', 'settings:write', 'sessions:write'] });
  const settle = (body: object, as = key) => at.send<Settled>('post', '/v1/sessions/settle-prices', { from: FROM, ...body }, { key: as });
  const stored = async () =>
    make.query(
      `SELECT s.student_rate_cents::integer AS price, s.tutor_pay_rate_cents::integer AS pay, array_agg(p.rate_cents::integer ORDER BY p.student_id) AS rates
      FROM sessions s JOIN lesson_participants p ON p.session_id = s.id WHERE s.organization_id = $1 GROUP BY s.id ORDER BY s.starts_at`,
      [at.school],
    );
  return { at, ids, settle, stored };
}

it('settles sessions ahead by the prices of now, and says what changed; a dry run changes nothing', async () => {
  const { at, ids, settle, stored } = await risen({}, { student_rate_cents: 7000 }, { tutor_pay_rate_cents: 3000 });
  const before = await stored();
  const dry = await settle({ dry_run: true });
  expect(dry).toMatchObject({ status: 200, body: { dry_run: true, sessions: 3 } });
  expect(await stored()).toEqual(before);
  const { body } = await settle({});
  expect(body).toEqual({ ...dry.body, dry_run: false });
  expect(
    body.changed.map(({ session_id: id, before, after }) => [ids.indexOf(id), before!.tutor_pay_rate_cents, after.tutor_pay_rate_cents]),
  ).toEqual([
    [0, 4000, 4500],
    [1, 4000, 4500],
    [2, 3000, 3000],
  ]);
  expect(body.changed[0]!.after.participants).toEqual([{ student_id: at.students[0], rate_cents: 9000, surcharge_cents: null }]);
  expect(await stored()).toEqual([
    { price: 9000, pay: 4500, rates: [9000] },
    { price: 7000, pay: 4500, rates: [7000] },
    { price: 9000, pay: 3000, rates: [9000] },
  ]);
  expect((await settle({})).body).toMatchObject({ sessions: 3, changed: [] });
});

it('leaves a rate that a request gave to one of several, also none', async () => {
  const { at, settle, stored } = await risen({});
  const [a, b, c] = at.students;
  const { id } = (await at.book('2098-04-01T05:00:00Z', { student_ids: [a, b, c] })).body;
  for (const [student, rate] of [[a, null], [b, 5000]] as const) {
    const [place] = await make.query<{ id: string }>('SELECT id FROM lesson_participants WHERE session_id = $1 AND student_id = $2', [id, student]);
    await at.send('patch', `/v1/lesson-participants/${place!.id}`, { rate_cents: rate });
  } // prettier-ignore
  await make.query(`UPDATE rate_cells SET student_rate_cents = 9500 WHERE organization_id = $1`, [at.school]);
  await settle({});
  const ordered = [{ of: a, rate: null }, { of: b, rate: 5000 }, { of: c, rate: 9500 }].sort((x, y) => (x.of < y.of ? -1 : 1)); // prettier-ignore
  expect((await stored())[1]).toMatchObject({ price: null, rates: ordered.map(({ rate }) => rate) });
});

it('looks only at those of a tutor or student, from a day on, that are still to come and not cancelled', async () => {
  const { at, ids, settle } = await risen({}, {});
  const other = at.students[1];
  expect((await at.book('2098-05-01T05:00:00Z', { student_ids: [other] })).status).toBe(201);
  await at.send('post', `/v1/sessions/${ids[0]}/cancel`, {});
  const found = async (body: object) => (await settle({ dry_run: true, ...body })).body.sessions;
  expect(await found({ student_id: other })).toBe(1);
  expect(await found({ tutor_id: at.t2 })).toBe(0);
  expect(await found({ from: '2098-05-02' })).toBe(0);
  await make.session(at.school, { tutorId: at.t1, startsAt: new Date('2026-03-01T01:00:00Z'), endsAt: new Date('2026-03-01T02:00:00Z') });
  expect(await found({ from: '2020-01-01' })).toBe(2);
});

it('needs both scopes, hides what was from a key without read, and refuses more than 2,000 with their number', async () => {
  const { at, settle } = await risen({});
  for (const scopes of [['settings:write'], ['sessions:write']] as const) {
    expect((await settle({}, await api.key(at.school, { scopes: [...scopes] }))).status).toBe(403);
  }
  const blind = await settle({ dry_run: true }, await api.key(at.school, { scopes: ['settings:write', 'sessions:write'] }));
  expect(blind.body).toMatchObject({ changed: [], masked: true });
  await make.query(
    `INSERT INTO sessions (id, organization_id, status, starts_at, ends_at, duration_minutes)
    SELECT gen_random_uuid(), $1, 'pending', timestamptz '2099-01-01' + n * interval '1 hour', timestamptz '2099-01-01' + (n + 1) * interval '1 hour', 60
    FROM generate_series(1, 2000) n`,
    [at.school],
  );
  const refused = await settle({});
  expect([refused.status, refused.body.detail]).toMatchObject([422, [{ loc: ['body', 'from'], msg: expect.stringContaining('2,001') as string }]]);
});
