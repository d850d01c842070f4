import { MoneyFixture, refusal } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';

const api = await TestApi.shared();
let at: MoneyFixture, s1: string, s2: string, s3: string;
MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2, s3]] = opened));

describe('completing a session', () => {
  it('bills it as a line of the student’s draft', async () => {
    const session = await at.taught(90);
    expect(session).toMatchObject({ status: 'completed', amount_owed_cents: 12_000 });
    const draft = await at.draft(s1);
    expect(draft).toMatchObject({ status: 'draft', invoice_number: null, due_date: null, amount_due_cents: 12_000 });
    expect(draft.line_items).toMatchObject([
      { quantity: 1, unit_amount_cents: 12_000, amount_cents: 12_000, item_type: 'session', session_id: session.id },
    ]);
    await at.taught(30);
    expect((await at.draft(s1)).line_items.map(({ amount_cents }) => amount_cents)).toEqual([12_000, 4_000]);
    expect(await at.balance()).toEqual([0, 0, 0, 0, 0]);
  });

  it('bills nobody who was excused, has declined or was removed; rounds for each; and once', async () => {
    const { id } = await at.lesson(50, { student_ids: at.students, student_rate_cents: 3_333 });
    const attendance = { [s2]: 'excused', [s3]: 'no_show' };
    for (let time = 0; time < 2; time++) {
      expect(await at.complete(id, attendance)).toMatchObject({ status: 200, body: { amount_owed_cents: 5_556, status: 'completed' } });
    }
    expect(refusal(await at.complete(id, { [s2]: 'attended' }))).toEqual([409, 'invalid_state']);
    expect((await at.complete(id)).status).toBe(200);
    expect([await at.draft(s1), await at.draft(s3)].map((draft) => draft.amount_due_cents)).toEqual([2_778, 2_778]);
    expect(await at.invoices(s2)).toEqual([]);
    expect((await at.participants(id)).map((one) => [one.student_id, one.attendance])).toEqual(
      [[s1, 'attended'], [s2, 'excused'], [s3, 'no_show']].sort(), // prettier-ignore
    );

    const { id: other } = await at.lesson(60, { student_ids: at.students });
    const [one, two] = (await at.participants(other)).filter(({ student_id }) => student_id !== s1);
    for (const [place, status] of [[one!, 'declined'], [two!, 'removed']] as const) await at.send('patch', `/v1/lesson-participants/${place.id}`, { status }); // prettier-ignore
    expect((await at.complete(other, { [two!.student_id]: 'attended' })).status).toBe(422);
    expect((await at.complete(other)).body.amount_owed_cents).toBe(8_000);
  });

  it('is refused before the start, for strangers, and in other states', async () => {
    const { id: ahead } = (await at.calendar.book('2098-03-01T05:00:00Z')).body;
    expect(refusal(await at.complete(ahead))).toEqual([409, 'invalid_state']);
    const { id } = await at.lesson(60);
    expect((await at.complete(id, { [s2]: 'attended' })).body.detail[0]).toMatchObject({ loc: ['body', 'participants', 0, 'student_id'] });
    const foreign = (await MoneyFixture.open(api)).students[0];
    for (const nobody of [foreign, id]) expect((await at.complete(id, { [nobody]: 'attended' })).status).toBe(404);
    const twice = { participants: [1, 2].map(() => ({ student_id: s1, attendance: 'attended' })) };
    expect((await at.send('put', `/v1/sessions/${id}/complete`, twice)).status).toBe(422);
    const { id: pending } = await at.lesson(60, { status: 'pending' });
    expect(refusal(await at.complete(pending))).toEqual([409, 'invalid_state']);
    await at.send('post', `/v1/sessions/${pending}/cancel`);
    expect(refusal(await at.complete(pending))).toEqual([409, 'invalid_state']);
    expect(await at.invoices(s1)).toEqual([]);
  });

  it('takes prices of groups, and the surcharge of each once', async () => {
    const { make } = api;
    const group = await make.group(at.calendar.school, { tutorId: at.calendar.t1, ratePerStudentCents: 4_500 });
    for (const student of [s1, s2]) await make.groupMember(group.id, student);
    await at.calendar.cell({
      session_kind: 'group',
      student_rate_cents: 9_000,
      inperson_surcharge_cents: 700,
      tutor_pay_mode: 'percentage',
      tutor_pay_pct: 60,
    });
    const session = await at.taught(50, { group_id: group.id, student_rate_cents: null, mode: 'in_person' });
    // 3,750 and 700 for each; 60% of 7,500.
    expect(session.amount_owed_cents).toBe(8_900);
    expect([await at.draft(s1), await at.draft(s2)].map((draft) => draft.amount_due_cents)).toEqual([4_450, 4_450]);
    expect(await pay(session.id)).toBe(4_500);
  });

  it('bills nothing without a price, and pays a rate an hour also if all were excused', async () => {
    const free = await at.taught(60, { student_rate_cents: null });
    expect([free.amount_owed_cents, await pay(free.id)]).toEqual([0, 0]);
    const { id } = await at.lesson(45, { tutor_pay_rate_cents: 5_030 });
    expect((await at.complete(id, { [s1]: 'excused' })).body.amount_owed_cents).toBe(0);
    // 3,772.5
    expect(await pay(id)).toBe(3_773);
    expect(await at.invoices(s1)).toEqual([]);
  });

  it('is taken back by reopening, until a line of it is issued', async () => {
    const { id } = await at.taught(90);
    for (let time = 0; time < 2; time++) {
      const reopened = await at.send('post', `/v1/sessions/${id}/reopen`);
      expect(reopened).toMatchObject({ status: 200, body: { status: 'scheduled', completed_at: null, amount_owed_cents: null } });
    }
    expect(await at.draft(s1)).toMatchObject({ amount_due_cents: 0, line_items: [] });
    expect([await pay(id), (await at.participants(id))[0]!.attendance]).toEqual([null, null]);
    await at.complete(id);
    await at.finalize((await at.draft(s1)).id);
    expect(refusal(await at.send('post', `/v1/sessions/${id}/reopen`))).toEqual([409, 'invalid_state']);
    const [invoice] = await at.invoices(s1);
    await at.void(invoice!.id);
    expect((await at.send('post', `/v1/sessions/${id}/reopen`)).status).toBe(200);
  });

  it('follows corrections of participants, until their line is issued', async () => {
    const { id } = await at.lesson(60, { student_ids: [s1, s2], tutor_pay_rate_cents: null });
    await at.complete(id, { [s2]: 'excused' });
    const [place, other] = [await placeOf(id, s1), await placeOf(id, s2)];
    const correct = (of: string, change: object) => at.send('patch', `/v1/lesson-participants/${of}`, change);
    expect((await correct(other, { attendance: 'attended' })).status).toBe(200);
    expect((await at.draft(s2)).amount_due_cents).toBe(8_000);
    expect(await owed(id)).toBe(16_000);
    await correct(other, { status: 'declined' });
    expect((await at.draft(s2)).line_items).toEqual([]);
    expect(await owed(id)).toBe(8_000);
    await at.finalize((await at.draft(s1)).id);
    expect((await correct(place, { attendance: 'no_show' })).status).toBe(200);
    expect(refusal(await correct(place, { attendance: 'excused' }))).toEqual([409, 'invalid_state']);
    expect(await owed(id)).toBe(8_000);
  });
});

describe('cancelling a session', () => {
  it('charges a part of what completing it would have billed', async () => {
    const { id } = await at.lesson(50, { student_ids: [s1, s2], student_rate_cents: 3_333 });
    for (let time = 0; time < 2; time++) {
      const cancelled = await at.send('post', `/v1/sessions/${id}/cancel`, { charge_percent: 50 });
      expect(cancelled).toMatchObject({ status: 200, body: { status: 'cancelled', amount_owed_cents: 2_778 } });
    }
    for (const student of [s1, s2]) {
      expect((await at.draft(student)).line_items).toMatchObject([{ description: 'late cancellation', amount_cents: 1_389, session_id: id }]);
    }
    const { id: free } = await at.lesson(50, { student_ids: [s3] });
    expect((await at.send('post', `/v1/sessions/${free}/cancel`)).body).toMatchObject({ status: 'cancelled', amount_owed_cents: null });
    expect(await at.invoices(s3)).toEqual([]);
    for (const charge_percent of [-1, 101, 0.5, '50'])
      expect((await at.send('post', `/v1/sessions/${free}/cancel`, { charge_percent })).status).toBe(422);
    expect(refusal(await at.send('delete', `/v1/sessions/${id}`))).toEqual([409, 'still_referenced']);
  });
});

async function pay(sessionId: string): Promise<number | null> {
  const [row] = await api.make.query<{ pay: string | null }>('SELECT tutor_pay_cents AS pay FROM sessions WHERE id = $1', [sessionId]);
  return row!.pay === null ? null : Number(row!.pay);
}

async function owed(sessionId: string): Promise<number | null> {
  return (await at.send<{ amount_owed_cents: number | null }>('get', `/v1/sessions/${sessionId}`)).body.amount_owed_cents;
}

async function placeOf(sessionId: string, student: string): Promise<string> {
  return (await at.participants(sessionId)).find(({ student_id }) => student_id === student)!.id;
}
