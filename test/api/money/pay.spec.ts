import { staysSound } from '../../support/faults/invariants.js';
import { CalendarFixture, type Sent } from '../../support/data/calendar-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
staysSound(api.make);
const { make } = api;

type Body = Record<string, unknown> & { id: string };
type Tables = Awaited<ReturnType<typeof make.session>>;

/** An organization in Melbourne whose key may write payroll, and its first tutor. */
class Payroll {
  private constructor(
    readonly at: CalendarFixture,
    readonly key: string,
  ) {}

  static async open(): Promise<Payroll> {
    const at = await CalendarFixture.open(api);
    return new Payroll(at, await api.key(at.school, { scopes: ['read', 'payroll:write'] }));
  }

  get tutor(): string {
    return this.at.t1;
  }

  post(path: string, body?: object, idempotencyKey?: string): Promise<Sent<Body>> {
    return this.at.send<Body>('post', path, body, { key: this.key, idempotencyKey });
  }

  async get<T = Body>(path: string): Promise<T> {
    const { status, body } = await this.at.send<T>('get', path, undefined, { key: this.key });
    expect([path, status]).toEqual([path, 200]);
    return body;
  }

  /** Earned, paid out and unpaid. */
  async earnings(query = '', tutor = this.tutor): Promise<number[]> {
    const sums = await this.get(`/v1/tutors/${tutor}/earnings?${query}`);
    return [sums.sessions_count, sums.earned_cents, sums.paid_out_cents, sums.unpaid_cents] as number[];
  }

  /** A completed session of the tutor, with what it earned. */
  held(startsAt: string, tutorPayCents: number | null, more: Partial<Tables> = {}) {
    return make.session(this.at.school, { tutorId: this.tutor, startsAt: new Date(startsAt), tutorPayCents, status: 'completed', ...more });
  }

  adjust(amount_cents: number, more: object = {}) {
    return this.post('/v1/adjustments', { tutor_id: this.tutor, period_start: '2026-04-13', period_end: '2026-04-26', amount_cents, ...more });
  }

  pay(amount_cents: number, more: object = {}) {
    return this.post('/v1/payouts', { tutor_id: this.tutor, amount_cents, ...more });
  }

  async audited(operation: string): Promise<object[]> {
    const rows = await make.query<{ details: object }>(
      `SELECT details - 'fields' AS details FROM audit_log WHERE organization_id = $1 AND operation = $2 AND result = 'done' ORDER BY id`,
      [this.at.school, operation],
    );
    return rows.map(({ details }) => details);
  }
}

const fields = ({ body }: Sent<Body>) => body.detail.map(({ loc }) => loc.join('.'));

describe('earnings', () => {
  it('are the pay of completed sessions and the adjustments, less what was paid out', async () => {
    const school = await Payroll.open();
    // 90 minutes at 50.00 and 45 at 50.30, of which half a cent is rounded up.
    await school.held('2026-04-14T06:00:00Z', 7500, { durationMinutes: 90 });
    await school.held('2026-04-15T06:00:00Z', 3773, { durationMinutes: 45 });
    const adjustment = await school.adjust(-2500, { note: 'Overpaid in the last run' });
    expect(adjustment).toMatchObject({ status: 201, body: { amount_cents: -2500, voided: false, period_start: '2026-04-13' } });
    expect(await school.earnings()).toEqual([2, 8773, 0, 8773]);

    const payout = await school.pay(7500);
    expect(payout).toMatchObject({
      status: 201,
      body: { tutor_id: school.tutor, session_id: null, amount_cents: 7500, currency: 'AUD', is_group: null },
    });
    expect(await school.earnings()).toEqual([2, 8773, 7500, 1273]);
    expect(await school.get(`/v1/payouts/${payout.body.id}`)).toEqual(payout.body);

    for (let time = 0; time < 2; time++) {
      const voided = await school.post(`/v1/adjustments/${adjustment.body.id}/void`);
      expect(voided).toMatchObject({ status: 200, body: { id: adjustment.body.id, voided: true } });
    }
    expect(await school.earnings()).toEqual([2, 11273, 7500, 3773]);
    expect((await school.get<{ data: Body[] }>('/v1/adjustments')).data).toEqual([]);
    const paidAlready = await school.pay(5000);
    expect(await school.earnings()).toEqual([2, 11273, 12500, -1227]);

    expect(await school.audited('POST /v1/adjustments')).toEqual([{ adjustment_id: adjustment.body.id }]);
    expect(await school.audited('POST /v1/payouts')).toEqual([payout, paidAlready].map(({ body }) => ({ payout_id: body.id })));
    expect(await school.audited('POST /v1/adjustments/:adjustment_id/void')).toHaveLength(1);
  });

  it('count completed sessions only, also those that have no pay', async () => {
    const school = await Payroll.open();
    for (const status of ['pending', 'scheduled', 'cancelled'] as const) await school.held('2026-04-14T06:00:00Z', 100, { status });
    await school.held('2026-04-14T06:00:00Z', null);
    await school.held('2026-04-14T06:00:00Z', 0);
    await school.held('2026-04-14T06:00:00Z', 20, { tutorId: school.at.t2 });
    expect(await school.earnings()).toEqual([2, 0, 0, 0]);
  });

  it('are those of months in Melbourne, where clocks change within two of them', async () => {
    const school = await Payroll.open();
    // Daylight saving ends on 6 April 2025: a month is 30 days and an hour long. It begins on 5 October.
    const months = [
      ['2025-03-31T12:59:59.999Z', '2025-03-01', '2025-03-31'],
      ['2025-03-31T13:00:00.000Z', '2025-04-01', '2025-04-30'],
      ['2025-04-30T13:59:59.999Z', '2025-04-01', '2025-04-30'],
      ['2025-04-30T14:00:00.000Z', '2025-05-01', '2025-05-31'],
      ['2025-09-30T13:59:59.999Z', '2025-09-01', '2025-09-30'],
      ['2025-09-30T14:00:00.000Z', '2025-10-01', '2025-10-31'],
      ['2025-10-31T12:59:59.999Z', '2025-10-01', '2025-10-31'],
      ['2025-10-31T13:00:00.000Z', '2025-11-01', '2025-11-30'],
    ] as const;
    const wanted: Record<string, number> = {};
    for (const [place, [at, from]] of months.entries()) {
      const session = await school.held(at, 10 ** place, { overlapAllowed: true });
      // Paid in another month than it took place in.
      expect((await school.pay(1, { session_id: session.id, paid_at: '2025-12-24' })).status).toBe(201);
      await school.pay(10, { paid_at: at });
      wanted[from] = (wanted[from] ?? 0) + 10 ** place;
    }
    for (const [, from, to] of months) {
      const count = months.filter((month) => month[1] === from).length;
      const sums = await school.get(`/v1/tutors/${school.tutor}/earnings?from=${from}&to=${to}`);
      expect(sums).toEqual({
        tutor_id: school.tutor,
        ...{ sessions_count: count, period_start: from, period_end: to },
        ...{ earned_cents: wanted[from], paid_out_cents: 11 * count, unpaid_cents: wanted[from]! - 11 * count },
      });
    }
    expect(await school.earnings()).toEqual([8, 11_111_111, 88, 11_111_023]);
    expect(await school.earnings('from=2025-04-01')).toEqual([7, 11_111_110, 77, 11_111_033]);
    expect(await school.earnings('to=2025-04-01')).toEqual([2, 11, 22, -11]);
    expect(await school.earnings('from=2025-04-30T13:59:59.999Z&to=2025-04-30T14:00:00Z')).toEqual([2, 1100, 22, 1078]);
    const open = await school.get(`/v1/tutors/${school.tutor}/earnings`);
    expect([open.period_start, open.period_end]).toEqual([null, null]);
  });

  it('have a payout on the day of its session, also once that was reopened and moved', async () => {
    const school = await Payroll.open();
    const session = await school.held('2026-04-14T06:00:00Z', 7500);
    const unpaid = await school.held('2026-04-14T08:00:00Z', 1);
    await school.pay(7500, { session_id: session.id, paid_at: '2026-05-20' });
    const paidOut = async (month: string) => (await school.earnings(`from=${month}-01&to=${month}-28`))[2];
    expect([await paidOut('2026-04'), await paidOut('2026-05'), await paidOut('2026-06')]).toEqual([7500, 0, 0]);
    for (const { id } of [session, unpaid]) await make.query(`UPDATE sessions SET status = 'scheduled' WHERE id = $1`, [id]);
    for (const { id } of [session, unpaid]) {
      const starts_at = id === session.id ? '2026-06-14T06:00:00Z' : '2026-06-14T08:00:00Z';
      expect((await school.at.put(id, { starts_at })).status).toBe(200);
    }
    expect([await paidOut('2026-04'), await paidOut('2026-05'), await paidOut('2026-06')]).toEqual([0, 0, 7500]);
    expect(await school.earnings()).toEqual([0, 0, 7500, -7500]);
  });

  it('have an adjustment on the first day of its period', async () => {
    const school = await Payroll.open();
    await school.adjust(1);
    const within = async (query: string) => (await school.earnings(query))[1];
    expect(await within('from=2026-04-13&to=2026-04-13')).toBe(1);
    expect(await within('from=2026-04-14')).toBe(0);
    expect(await within('to=2026-04-12')).toBe(0);
    // Within that day, in Melbourne.
    expect(await within('from=2026-04-12T15:00:00Z')).toBe(0);
    expect(await within('to=2026-04-12T15:00:00Z')).toBe(1);
  });

  it('are those of staff, also of those who have left, and of nobody else', async () => {
    const [school, other] = [await Payroll.open(), await Payroll.open()];
    await school.held('2026-04-14T06:00:00Z', 7500);
    await make.query(`UPDATE members SET status = 'archived' WHERE organization_id = $1 AND user_id = $2`, [school.at.school, school.tutor]);
    expect((await school.adjust(500)).status).toBe(201);
    expect((await school.pay(1000)).status).toBe(201);
    expect(await school.earnings()).toEqual([1, 8000, 1000, 7000]);
    // The same person, in another organization.
    await make.tutor(other.at.school, { user: { id: school.tutor } });
    expect(await other.earnings('', school.tutor)).toEqual([0, 0, 0, 0]);
    for (const tutor_id of [school.at.students[0], other.tutor, (await make.user()).id]) {
      const read = await school.at.send('get', `/v1/tutors/${tutor_id}/earnings`, undefined, { key: school.key });
      const answers = [read, await school.adjust(1, { tutor_id }), await school.pay(1, { tutor_id })];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
  });

  it('are exact beyond 32 bits', async () => {
    const school = await Payroll.open();
    const most = 1_000_000_000_000;
    for (let n = 1; n <= 5; n++) await school.held(`2026-04-1${n}T06:00:00Z`, most - 1);
    await school.adjust(most);
    const paid = 10_000_000_000;
    for (let n = 1; n <= 5; n++) await school.pay(paid);
    expect(await school.earnings()).toEqual([5, 6 * most - 5, 5 * paid, 6 * most - 5 - 5 * paid]);
  });
});

describe('an adjustment', () => {
  it.each([
    ['0', { amount_cents: 0 }, ['body.amount_cents']],
    ['a period that ends before it starts', { period_end: '2026-04-12' }, ['body.period_end']],
    ['both', { amount_cents: 0, period_end: '2026-04-12' }, ['body.period_end', 'body.amount_cents']],
    ['all of it', { amount_cents: 0, period_end: '2026-04-12', note: '' }, ['body.period_end', 'body.amount_cents', 'body.note']],
    ['a start that is no day', { period_start: 'soon' }, ['body.period_start']],
    ['0 for nobody known', { amount_cents: 0, tutor_id: '0190a6f2-5c1e-7d3a-9b4f-2e8c6d1a7f30' }, ['body.amount_cents']],
    ['more than can be', { amount_cents: -1_000_000_000_001 }, ['body.amount_cents']],
    ['half a cent', { amount_cents: 1.5 }, ['body.amount_cents']],
    ['a blank note', { note: ' ' }, ['body.note']],
    ['a note of 501 characters', { note: 'x'.repeat(501) }, ['body.note']],
    ['no tutor', { tutor_id: undefined }, ['body.tutor_id']],
  ])('is refused with %s', async (_what, more, wrong) => {
    const school = await Payroll.open();
    const refused = await school.adjust(1, more);
    expect([refused.status, fields(refused)]).toEqual([422, wrong]);
  });

  it('may be for a single day and without a note, and is another organization’s 404', async () => {
    const [school, other] = [await Payroll.open(), await Payroll.open()];
    const { status, body } = await school.adjust(1, { period_end: '2026-04-13' });
    expect([status, body.note]).toEqual([201, null]);
    expect((await other.post(`/v1/adjustments/${body.id}/void`)).status).toBe(404);
    expect(await school.earnings()).toEqual([0, 1, 0, 1]);
  });
});

describe('a payout', () => {
  it('of a session is made once, of ten at once', async () => {
    const school = await Payroll.open();
    const group = await make.group(school.at.school, { tutorId: school.tutor });
    const session = await school.held('2026-04-14T06:00:00Z', 7500, { groupId: group.id });
    const answers = await Promise.all(Array.from({ length: 10 }, () => school.pay(7500, { session_id: session.id })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array<number>(9).fill(422)]);
    expect(answers.filter(({ status }) => status === 422).flatMap(fields)).toEqual(Array(9).fill('body.session_id'));
    expect(answers.find(({ status }) => status === 201)!.body).toMatchObject({ session_id: session.id, is_group: true });
    expect(await school.earnings()).toEqual([1, 7500, 7500, 0]);
  });

  it('is for a completed session of the tutor', async () => {
    const [school, other] = [await Payroll.open(), await Payroll.open()];
    const [s1] = school.at.students;
    const single = await school.held('2026-04-14T06:00:00Z', 1, { studentId: s1 });
    expect((await school.pay(1, { session_id: single.id })).body.is_group).toBe(false);
    for (const status of ['pending', 'scheduled', 'cancelled'] as const) {
      const { id } = await school.held('2026-04-15T06:00:00Z', null, { status });
      const refused = await school.pay(1, { session_id: id });
      expect(refused).toMatchObject({ status: 409, body: { error: { code: 'invalid_state', details: { state: status, allowed: ['completed'] } } } });
    }
    const colleagues = await school.held('2026-04-15T06:00:00Z', 1, { tutorId: school.at.t2 });
    expect((await school.pay(1, { session_id: colleagues.id })).status).toBe(422);
    const foreign = await other.held('2026-04-15T06:00:00Z', 1);
    expect((await school.pay(1, { session_id: foreign.id })).status).toBe(404);
    expect(await school.earnings()).toEqual([1, 1, 1, 0]);
  });

  it('stays when its session is reopened, completed anew for another pay, and not paid out a second time', async () => {
    const school = await Payroll.open();
    const key = await api.key(school.at.school, { scopes: ['sessions:write'] });
    const send = (method: 'post' | 'put', path: string, body?: object) => school.at.send(method, path, body, { key });
    const { id } = (await school.at.book('2026-04-14T06:00:00Z', { tutor_pay_rate_cents: 5_000 })).body;
    await send('put', `/v1/sessions/${id}/complete`);
    expect((await school.pay(5_000, { session_id: id })).status).toBe(201);
    expect((await send('post', `/v1/sessions/${id}/reopen`)).status).toBe(200);
    expect(await school.earnings()).toEqual([0, 0, 5_000, -5_000]);
    expect((await school.at.put(id, { duration_minutes: 90 })).status).toBe(200);
    expect((await send('put', `/v1/sessions/${id}/complete`)).status).toBe(200);
    const again = await school.pay(7_500, { session_id: id });
    expect([again.status, fields(again)]).toEqual([422, ['body.session_id']]);
    // The rest is paid as one for several sessions.
    expect((await school.pay(2_500)).status).toBe(201);
    expect(await school.earnings()).toEqual([1, 7_500, 7_500, 0]);
  });

  it.each([
    [{ amount_cents: 0 }],
    [{ amount_cents: -1 }],
    [{ amount_cents: 10_000_000_001 }],
    [{ currency: 'USD' }],
    [{ paid_at: 'soon' }],
    [{ paid_at: new Date(Date.now() + 300_000).toISOString() }],
  ])('is refused with %j', async (more) => {
    const refused = await (await Payroll.open()).pay(1, more);
    expect([refused.status, fields(refused)]).toEqual([422, Object.keys(more).map((name) => `body.${name}`)]);
  });

  it('is repeated by its idempotency key, and made once', async () => {
    const school = await Payroll.open();
    const pay = () => school.post('/v1/payouts', { tutor_id: school.tutor, amount_cents: 5 }, 'run-17');
    const answers = await Promise.all([pay(), pay(), pay()]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(await school.earnings()).toEqual([0, 0, 5, -5]);
  });

  it('is found by tutor and by when it was paid', async () => {
    const school = await Payroll.open();
    const { body: early } = await school.pay(1, { paid_at: '2026-04-30T13:59:59.999Z' });
    const { body: late } = await school.pay(2, { paid_at: '2026-04-30T14:00:00Z', tutor_id: school.at.t2 });
    const found = async (query: string) => (await school.get<{ data: Body[] }>(`/v1/payouts?${query}`)).data.map(({ id }) => id);
    expect(await found('')).toEqual([late.id, early.id]);
    expect(await found('to=2026-04-30')).toEqual([early.id]);
    expect(await found('from=2026-05-01')).toEqual([late.id]);
    expect(await found(`tutor_id=${school.tutor}`)).toEqual([early.id]);
  });
});

it('payroll is for keys with payroll:write', async () => {
  const school = await Payroll.open();
  const trip = await make.mileage(school.at.school, school.tutor);
  const reader = await api.key(school.at.school, { scopes: ['read', 'payments:write', 'tutors:write'] });
  const umbrella = await api.key(school.at.school, { scopes: ['write'] });
  for (const path of ['/v1/adjustments', '/v1/payouts', `/v1/mileage/${trip.id}/approve`]) {
    const send = (key: string) => school.at.send('post', path, {}, { key });
    const [denied, allowed] = [await send(reader), await send(umbrella)];
    expect([path, denied.status, denied.body.error.code]).toEqual([path, 403, 'insufficient_scope']);
    expect([path, allowed.status === 403]).toEqual([path, false]);
  }
});
