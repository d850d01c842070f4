import { staysSound } from '../../support/faults/invariants.js';
import { MoneyFixture } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';
import { fixture } from '../../support/process/fixture.js';

const api = await fixture(TestApi.start());
staysSound(api.make);
let at: MoneyFixture, student: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [, , student]] = opened));

async function leave(kind: 'students' | 'tutors', id: string): Promise<void> {
  const key = await api.key(at.calendar.school, { scopes: ['accounts:write'] });
  at.done(await at.send('post', `/v1/${kind}/${id}/offboard`, {}, key));
}

const get = async (path: string) => at.done(await at.send<object>('get', path));

describe('what the organization itself records goes on once somebody has left', () => {
  it('of a student: a refund, a lesson completed late, and its payment are shown and counted', async () => {
    const lesson = await at.lesson(60, { student_ids: [student] });
    const early = await at.issued(student, 1_000);
    const paid = await at.paid(student, 1_500);
    await leave('students', student);

    expect(at.done(await at.refund(paid.id, 400))).toMatchObject({ refund_amount_cents: 400, credit_cents: 100 });
    expect(at.done(await at.complete(lesson.id))).toMatchObject({ status: 'completed', amount_owed_cents: 8_000 });
    const late = at.done(await at.finalize((await at.draft(student)).id));
    const rest = await at.paid(student, 7_900);
    expect(await at.states(early, late)).toEqual([['paid', 1_000], ['paid', 8_000]]); // prettier-ignore

    const { data } = (await get(`/v1/payments?student_id=${student}`)) as { data: { id: string }[] };
    expect(data.map(({ id }) => id).sort()).toEqual([paid.id, rest.id].sort());
    expect(data).toContainEqual(expect.objectContaining({ id: paid.id, refund_amount_cents: 400 }));
    expect(await get(`/v1/students/${student}/balance`)).toMatchObject({ total_invoiced_cents: 9_000, total_paid_cents: 9_000, credit_cents: 0 });
    expect(await get('/v1/reports/summary')).toMatchObject({ outstanding_cents: 0 });
    expect(await at.participants(lesson.id)).toMatchObject([{ student_id: student, attendance: 'attended' }]);
  });

  it('of a tutor: a lesson that was held and is completed later earns, and is paid out', async () => {
    const { id: tutor } = await api.make.tutor(at.calendar.school);
    const { id } = await at.lesson(60, { tutor_id: tutor, tutor_pay_rate_cents: 5_000 });
    await leave('tutors', tutor);
    at.done(await at.complete(id));
    const earned = () => get(`/v1/tutors/${tutor}/earnings`);
    expect(await earned()).toMatchObject({ sessions_count: 1, earned_cents: 5_000, unpaid_cents: 5_000 });
    const key = await api.key(at.calendar.school, { scopes: ['payroll:write'] });
    at.done(await at.send('post', '/v1/payouts', { tutor_id: tutor, session_id: id, amount_cents: 5_000 }, key));
    expect(await earned()).toMatchObject({ paid_out_cents: 5_000, unpaid_cents: 0 });
  });
});
