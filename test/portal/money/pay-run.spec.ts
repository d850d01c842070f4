import { randomUUID } from 'node:crypto';
import { Random } from '../../support/data/random.js';
import { moneyOffice } from '../../support/portal/money-office.js';
import { TestPortal } from '../../support/portal/portal.js';

const portal = await TestPortal.shared();
const { make } = portal;

type Room = Awaited<ReturnType<typeof moneyOffice>>;

const MONTH = '2026-03';
/** The end of that month in Melbourne. */
const END = '2026-03-31T12:59:59.999Z';

const value = (html: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';
const sums = (form: string) => Object.fromEntries(form.split(' ').filter(Boolean).map((one) => one.split(':') as [string, string])); // prettier-ignore

/** The form of the confirmation, as a browser sends it. */
async function formOf(room: Room, query = '') {
  const html = await room.look(`/pay-run/record?month=${MONTH}${query}`);
  return { html, form: { form_token: value(html, 'form_token'), month: MONTH, payouts: value(html, 'payouts') } };
}

/** Tutors with lessons, adjustments and payouts around the end of the month, by chance. */
async function staff(room: Room, seed: number): Promise<string[]> {
  const random = new Random(seed);
  const organizationId = room.organization.id;
  const day = () => new Date(Date.parse(END) + (random.integer(120) - 80) * 86_400_000);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    const { id: tutorId } = await make.tutor(organizationId);
    ids.push(tutorId);
    for (let more = 0; more < 8; more++) {
      const startsAt = day();
      const endsAt = new Date(+startsAt + 3_600_000);
      const status = random.pick(['completed', 'completed', 'scheduled'] as const);
      const { id } = await make.session(organizationId, {
        tutorId,
        status,
        startsAt,
        endsAt,
        overlapAllowed: true,
        tutorPayCents: random.integer(9_000),
      });
      if (status === 'completed' && random.chance(0.3))
        await make.row('payouts', {
          ...{ organizationId, tutorId, sessionId: id, amountCents: 1 + random.integer(3_000), currency: 'AUD' },
          paidAt: new Date(),
        });
    }
    const start = day().toISOString().slice(0, 10);
    await make.row('adjustments', { organizationId, tutorId, periodStart: start, periodEnd: start, amountCents: random.integer(4_000) - 2_000 || 1 });
    await make.row('payouts', {
      organizationId,
      tutorId,
      amountCents: 1 + random.integer(9_000),
      currency: 'AUD',
      paidAt: day() > new Date() ? new Date() : day(),
    });
  }
  return ids;
}

const due = (room: Room) =>
  make.query<{ id: string; due: number }>(
    `SELECT m.user_id AS id, ((SELECT coalesce(sum(tutor_pay_cents), 0) FROM sessions s WHERE s.tutor_id = m.user_id AND s.status = 'completed' AND s.starts_at <= $2)
      + (SELECT coalesce(sum(amount_cents), 0) FROM adjustments a WHERE a.tutor_id = m.user_id AND NOT voided AND period_start <= '2026-03-31')
      - (SELECT coalesce(sum(amount_cents), 0) FROM payouts p LEFT JOIN sessions s ON s.id = p.session_id
        WHERE p.tutor_id = m.user_id AND NOT p.taken_back AND (s.id IS NULL OR s.starts_at <= $2)))::int AS due
    FROM members m WHERE m.organization_id = $1 AND m.role = 'tutor'`,
    [room.organization.id, END],
  );

const payouts = (room: Room) =>
  make.query<{ tutor: string; cents: number }>(
    `SELECT tutor_id AS tutor, amount_cents::int AS cents FROM payouts WHERE organization_id = $1 AND recorded ORDER BY created_at, id`,
    [room.organization.id],
  );
const audited = async (room: Room) => (await portal.audited(room.organization.id)).filter(({ operation }) => operation === 'POST /v1/payouts');

it.each([1, 2, 3])(
  'pays each tutor what they are due, by the sums of the database, once, however often and at once it is sent (%i)',
  async (seed) => {
    const room = await moneyOffice(portal);
    await staff(room, seed);
    const owed = (await due(room)).filter((one) => one.due > 0);
    expect(owed.length).toBeGreaterThan(0);
    const { html, form } = await formOf(room);
    expect(sums(form.payouts)).toEqual(Object.fromEntries(owed.map((one) => [one.id, String(one.due)])));
    const total = owed.reduce((sum, one) => sum + one.due, 0) / 100;
    expect(html).toContain(`${new Intl.NumberFormat('en-AU', { style: 'currency', currency: 'AUD' }).format(total)} in all`);
    // The same form several times, and another one that was opened before.
    const other = { ...form, form_token: randomUUID() };
    const answers = await Promise.all([form, form, other, form, other].map((one) => room.post('/pay-run/record', one)));
    for (const { status } of answers) expect([200, 303]).toContain(status);
    expect(Object.fromEntries((await payouts(room)).map(({ tutor, cents }) => [tutor, cents]))).toEqual(
      Object.fromEntries(owed.map((one) => [one.id, one.due])),
    );
    expect(await payouts(room)).toHaveLength(owed.length);
    expect(await audited(room)).toHaveLength(owed.length);
    for (const one of await due(room)) expect(one.due).toBeLessThanOrEqual(0);
    const late = await room.post('/pay-run/record', { ...form, form_token: randomUUID() }).expect(200);
    expect(late.text).toContain('What is due has changed since: look at it again.');
    expect((await formOf(room)).html).toContain('Nobody to pay');
    expect(await payouts(room)).toHaveLength(owed.length);
  },
);

it('only those who are ticked are paid; what is due is adjusted, and a payout taken back', async () => {
  const room = await moneyOffice(portal);
  const [one, two] = [await make.tutor(room.organization.id), await make.tutor(room.organization.id)];
  const path = `/pay-run/${one.id}`;
  for (const tutor of [one, two])
    expect(await room.told(`/pay-run/${tutor.id}/adjust`, { month: MONTH, amount: '100', note: 'Exam marking' })).toEqual([
      'success',
      'The adjustment was added.',
    ]);
  expect(await room.told(`${path}/adjust`, { month: MONTH, amount: '-20.50', note: 'Overpaid in the last run' })).toEqual([
    'success',
    'The adjustment was added.',
  ]);
  expect(await room.refused(`${path}/adjust`, { month: MONTH, amount: '0' })).toEqual({
    'field-amount': 'Enter an amount such as 12.50, or -12.50 for a deduction.',
    'field-note': 'Say what it is for, in up to 500 characters.',
  });
  expect(sums((await formOf(room, '&ticked=yes')).form.payouts)).toEqual({});
  const { form } = await formOf(room, `&ticked=yes&tutor=${one.id}&tutor=x`);
  expect(sums(form.payouts)).toEqual({ [one.id]: '7950' });
  await room.post('/pay-run/record', form).expect(200);
  expect(await payouts(room)).toEqual([{ tutor: one.id, cents: 7_950 }]);
  const page = await room.look(`${path}?month=${MONTH}`);
  expect(await room.told(`${path}/void-payout`, { month: MONTH, payout_id: value(page, 'payout_id'), reason: 'Entered twice' })).toEqual([
    'success',
    'The payout was taken back.',
  ]);
  expect(await room.told(`${path}/void-adjustment`, { month: MONTH, adjustment_id: value(page, 'adjustment_id') })).toEqual([
    'success',
    'The adjustment was taken back.',
  ]);
  expect(sums((await formOf(room, `&ticked=yes&tutor=${one.id}`)).form.payouts)).toEqual({ [one.id]: '10000' });
  const operations = (await portal.audited(room.organization.id)).map(({ operation }) => operation);
  expect(operations).toEqual([
    ...Array<string>(3).fill('POST /v1/adjustments'),
    ...['POST /v1/payouts', 'POST /v1/payouts/:payout_id/void', 'POST /v1/adjustments/:adjustment_id/void'],
  ]);
});

it('strangers, students and odd forms are refused', async () => {
  const room = await moneyOffice(portal);
  for (const id of [room.child.id, room.parent.id, randomUUID()]) {
    await portal.get(`${room.base}/pay-run/${id}`, room.owner.cookie).expect(404);
    await room.post(`/pay-run/${id}/adjust`, { amount: '5', note: 'x' }).expect(404);
  }
  for (const sent of ['', 'x', `${randomUUID()}:x`]) await room.post('/pay-run/record', { payouts: sent }).expect(400);
  const { text } = await room.post('/pay-run/record', { payouts: `${room.child.id}:500 ${randomUUID()}:1` }).expect(200);
  expect(text).toContain('0 payouts recorded');
  expect(await payouts(room)).toEqual([]);
});
