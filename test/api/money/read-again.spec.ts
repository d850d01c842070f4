import { Settlement } from '../../../libs/billing/src/settlement.js';
import { MoneyFixture } from '../../support/data/money-fixture.js';
import { connectPatiently } from '../../support/database/patient-connection.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
const { make } = api;
let at: MoneyFixture, s1: string, s2: string, s3: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2, s3]] = opened));

describe('what was read before a lock is read again after it', () => {
  it.each(['a payment', 'a void invoice'])('a child who is linked meanwhile: no credit of %s is left beside debt', async (what) => {
    const key = await api.key(at.calendar.school, { scopes: ['accounts:write'] });
    const draft = await at.drafted(s3, 1_000);
    const paid = await at.issued(s1, 2_000);
    if (what === 'a void invoice') await at.pay({ parent_id: at.parent, amount_cents: 1_000 });
    else await at.void(paid.id);
    const [begun, linked] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    // Nobody linked or issued anything between the two before, so they are the first to wait.
    vi.spyOn(Settlement.prototype, 'lock').mockImplementationOnce(async function (this: Settlement, ...args) {
      begun.resolve(undefined);
      await linked.promise;
      return this.lock(...args);
    });
    const moving = what === 'a payment' ? at.pay({ parent_id: at.parent, amount_cents: 1_000 }) : at.void(paid.id);
    await begun.promise;
    expect((await at.send('post', `/v1/parents/${at.parent}/link-student`, { student_id: s3 }, key)).status).toBe(200);
    const issued = at.done(await at.finalize(draft.id));
    expect(issued.status).toBe('open');
    linked.resolve(undefined);
    at.done((await moving) as { status: number; body: object } as never);
    expect(await at.states(issued)).toEqual([['paid', 1_000]]);
  });

  it.each([
    ['/v1/payments', () => ({ student_id: s1, amount_cents: 1, payment_type: 'cash' })],
    ['/v1/lesson-plans', () => ({ scope: 'student', student_id: s1, title: 'Fractions' })],
  ])('a session that is deleted meanwhile: POST %s is a 404, or the session stays', async (path, body) => {
    const key = await api.key(at.calendar.school, { scopes: ['sessions:write', 'payments:write', 'coursework:write'] });
    const plan = await make.row('lesson_plans', { organizationId: at.calendar.school, createdBy: at.calendar.t1, scope: 'student', studentId: s1 });
    const seen = new Set<string>();
    for (let round = 0; round < 15; round++) {
      const { id } = await at.lesson(60);
      const answers = await Promise.all([
        at.send('delete', `/v1/sessions/${id}`, undefined, key),
        at.send('post', path, { ...body(), session_id: id }, key),
        ...(path === '/v1/lesson-plans' ? [at.send('put', `${path}/${plan.id}`, { session_id: id }, key)] : []),
      ]);
      seen.add(answers.map(({ status }) => status).join(' '));
    }
    expect([...seen].filter((one) => !/^204( 404)+$|^409( 201| 200| 404)+$/.test(one))).toEqual([]);
  });
});

it('a student’s own money is used before that of a parent, who may need it for another child', async () => {
  await at.pay({ parent_id: at.parent, amount_cents: 1_000 });
  await at.paid(s1, 1_000);
  const [own, other] = [await at.issued(s1, 1_000), await at.issued(s2, 1_000)];
  expect(await at.states(own, other)).toEqual([['paid', 1_000], ['paid', 1_000]]); // prettier-ignore
});

it('of an approval and a rejection at once, one is refused', async () => {
  const { school, t1 } = at.calendar;
  const key = await api.key(school, { scopes: ['payroll:write'] });
  const rows = await connectPatiently({ url: api.database.adminUrl, poolSize: 1, applicationName: 'lock' });
  for (const [path, table, { id }] of [
    ['mileage', 'mileage_trips', await make.mileage(school, t1)],
    ['expenses', 'expense_claims', await make.expense(school, t1)],
  ] as const) {
    await rows.query(`BEGIN; SELECT FROM ${table} WHERE id = '${id}' FOR UPDATE`);
    const answers = ['approve', 'reject'].map((action) => at.send('post', `/v1/${path}/${id}/${action}`, {}, key));
    const both = Promise.all(answers);
    await vi.waitFor(async () => {
      const waiting = await make.query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
      expect(waiting).toHaveLength(2);
    }, { interval: 5 }); // prettier-ignore
    await rows.query('COMMIT');
    expect((await both).map(({ status }) => status).sort()).toEqual([200, 409]);
  }
  await rows.destroy();
});
