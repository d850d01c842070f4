import { MoneyFixture } from '../../support/data/money-fixture.js';
import { TestApi } from '../../support/http/api.js';

const ROUNDS = 3;
const TEN = Array.from({ length: 10 }, (_, index) => index);

const api = await TestApi.shared();
let at: MoneyFixture, s1: string, s2: string, s3: string;
const next = MoneyFixture.inEachTest(api, (...opened) => ([at, [s1, s2, s3]] = opened));

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

describe('at the same time', () => {
  it('ten completions of one session bill it once', async () => {
    const { id } = await at.lesson(90, { student_ids: at.students });
    expect(statuses(await Promise.all(TEN.map(() => at.complete(id))))).toEqual(TEN.map(() => 200));
    for (const student of at.students) expect((await at.draft(student)).line_items).toHaveLength(1);
  });

  it('ten first lines of a student are on one draft', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const lessons = await Promise.all(TEN.map(() => at.lesson(60, { student_ids: at.students })));
      expect(statuses(await Promise.all(lessons.map(({ id }) => at.complete(id))))).toEqual(TEN.map(() => 200));
      for (const student of at.students) expect(await at.draft(student)).toMatchObject({ amount_due_cents: 80_000 });
      await next();
    }
  });

  it('ten invoices get ten numbers without a gap, also beside some that are refused', async () => {
    const good = await Promise.all(TEN.map((index) => at.drafted(at.students[index % 3]!, 1_000)));
    const bad = await Promise.all(TEN.map((index) => at.drafted(at.students[index % 3]!, 1_000, -2_000)));
    const answers = await Promise.all([...good, ...bad].map(({ id }) => at.finalize(id)));
    expect(statuses(answers)).toEqual([...TEN.map(() => 200), ...TEN.map(() => 409)]);
    const numbers = answers.flatMap(({ body }) => body.invoice_number ?? []).sort();
    expect(numbers).toEqual(TEN.map((index) => `INV-${String(index + 1).padStart(6, '0')}`));
  });

  it('ten payments of one invoice pay it once, and the rest is credit', async () => {
    const { id } = await at.issued(s1, 5_000);
    await Promise.all(
      TEN.map((index) => at.pay(index % 2 ? { student_id: s1, amount_cents: 1_000 } : { parent_id: at.parent, amount_cents: 1_000 })),
    );
    expect(await at.states({ id })).toEqual([['paid', 5_000]]);
    expect(await at.balance()).toEqual([5_000, 5_000, 0, 0, 5_000]);
  });

  it('ten refunds give back no more than was paid', async () => {
    const invoice = await at.issued(s1, 5_000);
    const { id } = await at.paid(s1, 5_000);
    expect(statuses(await Promise.all(TEN.map(() => at.refund(id, 1_000))))).toEqual([...Array<number>(5).fill(200), ...Array<number>(5).fill(409)]);
    expect(await at.states(invoice)).toEqual([['open', 0]]);
  });

  it('ten times void puts the lines back once', async () => {
    const { id } = await at.issued(s1, 5_000);
    await at.paid(s1, 1_000);
    expect(statuses(await Promise.all(TEN.map(() => at.void(id, { rebill: true }))))).toEqual(TEN.map(() => 200));
    expect((await at.draft(s1)).line_items).toHaveLength(1);
    expect(await at.balance()).toEqual([0, 0, 0, 0, 1_000]);
  });

  it('families pay, finalize, void, refund, complete and reopen without a deadlock, and the books add up', async () => {
    await api.make.parent(at.calendar.school, { children: [s2, s3] });
    for (let round = 0; round < ROUNDS; round++) {
      const lesson = await at.taught(60, { student_ids: [...at.students].reverse() });
      const collecting = await at.draft(s2);
      const [payment, open] = [await at.paid(s2, 3_000), await at.issued(s2, 4_000)];
      const drafts = await Promise.all(at.students.map((student) => at.drafted(student, 2_500)));
      const answers = await Promise.all([
        ...drafts.map(({ id }) => at.finalize(id)),
        ...[s1, s2, s3].map((student) => at.pay({ student_id: student, amount_cents: 1_700 })),
        at.pay({ parent_id: at.parent, amount_cents: 2_200 }),
        at.refund(payment.id, 2_000),
        at.void(open.id, { rebill: true }),
        at.finalize(collecting.id),
        at.send('post', `/v1/sessions/${lesson.id}/reopen`),
        at.complete((await at.lesson(30, { student_ids: at.students })).id),
      ]);
      for (const { status, body } of answers) expect([200, 201, 409], JSON.stringify(body)).toContain(status);
      expect(await at.faults()).toEqual([]);
    }
  });

  it('a payment with one idempotency key is recorded once', async () => {
    const body = { student_id: s1, amount_cents: 1_000, payment_type: 'cash' };
    const send = () => at.calendar.send<{ id: string }>('post', '/v1/payments', body, { key: at.key, idempotencyKey: 'once' });
    const answers = await Promise.all(TEN.map(send));
    expect(new Set(answers.map((answer) => `${answer.status} ${answer.body.id}`)).size).toBe(1);
    expect(await at.balance()).toEqual([0, 0, 0, 0, 1_000]);
  });
});
